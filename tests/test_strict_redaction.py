"""Strict redaction: planted secrets go, ordinary code stays, and the work is linear."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cce.retrieval.redaction import assignments as strict_assignments
from cce.retrieval.redaction import shapes as strict_shapes
from cce.retrieval.redaction.standard import redact
from cce.retrieval.redaction.strict import count_secrets, redact_strictly

ALNUM = "a8Kd93mZq7Lw2Xc5Vb1Nh6Tg4Rf0Ys"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
B64 = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze8SNFZ4kA=="
PGP_END, SSH2_END = "-----END PGP PRIVATE KEY BLOCK-----", "---- END SSH2 ENCRYPTED PRIVATE KEY ----"
KEY_LINES = "\n".join("MIIEow" + ALNUM[: n + 8] + "IBAAKCAQEAxyz0123456789ABCDEF" for n in range(4))


def strict(text: str, path: str = "notes.txt") -> str:
    return redact_strictly(text.encode(), path).decode()


# (path, text with the secret between « and »); none of them goes under the standard rules.
PLANTED = [
    # quoted keys
    ("a.json", '{"password": "«hunter2hunter2»"}'),
    ("a.json", '{"user": "bob", "passwd":"«correcthorse»"}'),
    ("a.json", '{"api_key" : "«8f14e45fceea167a»"}'),
    ("a.json", '{"secret":\n  "«8f14e45fceea167a»"}'),
    ("a.json", '{"access_token": "«8f14e45fceea167a»", "x": 1}'),
    ("a.py", "cfg['password'] = '«hunter2hunter2»'"),
    ("a.py", 'cfg["db"]["password"]="«hunter2hunter2»"'),
    ("a.py", 'os.environ["API_TOKEN"] = "«t0ken-value-99»"'),
    ("a.js", "const a = { 'client-secret': '«hunter2hunter2»' }"),
    ("a.js", 'x = "{\\"password\\": \\"«hunter2hunter2»\\"}"'),
    ("a.yml", '"password": «hunter2hunter2»'),
    ("a.yml", "'db_password': '«hunter2hunter2»'"),
    # prefixed and camel-case names
    (".envrc", "export DB_PASSWORD=«hunter2hunter2»"),
    ("Dockerfile", "ENV DB_PASSWORD=«hunter2hunter2»"),
    ("Dockerfile", "ARG NPM_TOKEN=«abcd1234efgh»"),
    ("run.sh", "PGPASSWORD=«hunter2hunter2» psql"),
    ("run.sh", "MYSQL_PWD=«correcthorse» mysql"),
    ("run.sh", 'export AWS_SECRET_ACCESS_KEY="«wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzKEY»"'),
    ("README.md", "AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzKEY»"),
    ("README.md", "AWS_SESSION_TOKEN=«FwoGZXIvYXdzEBYaDHqa0AP1»"),
    ("a.ini", "db_password = «hunter2 hunter2»"),
    ("a.ini", "smtp.pass = «correcthorse»"),
    ("a.properties", "spring.datasource.password.pwd=«correcthorse»"),
    ("a.properties", "clientSecret=«correcthorse»"),
    ("a.toml", 'clientSecret = "«correcthorse»"'),
    ("a.ts", 'clientSecret: "«correcthorse»",'),
    ("a.ts", "this.dbPassword = '«correcthorse»';"),
    ("a.go", 'pwd := "«hunter2hunter2»"'),
    ("a.cs", 'var passphrase = "«correct horse battery staple»";'),
    ("a.py", 'PASSPHRASE = "«correct horse battery staple»"'),
    ("a.rb", 'SECRET_KEY_BASE = "«' + HEX + '»"'),
    ("a.yml", "secret_key_base: «" + HEX + "»"),
    ("a.py", 'smtp_pass = "«s3cretpass99»"'),
    ("a.py", 'DB_PW = "«s3cretpass99»"'),
    ("a.java", 'String userPass = "«s3cretpass99»";'),
    ("a.py", 'encryption_key = "«8f14e45fceea167a»"'),
    ("a.py", 'SIGNING_KEY = b"«8f14e45fceea167a»"'),
    ("a.py", 'stripe_api_key2 = "«8f14e45fceea167a»"'),
    # := and types
    ("a.go", 'dbPassword := "«hunter2hunter2»"'),
    ("a.go", 'var apiToken string = "«hunter2hunter2»"'),
    ("a.go", 'password := `«hunter2hunter2»`'),
    ("a.py", 'password: str = "«hunter2hunter2»"'),
    ("a.py", 'db_password: Optional[str] = "«hunter2hunter2»"'),
    ("a.py", 'password: Optional[str] = "«hunter2hunter2»"'),
    ("a.rs", 'let token: &str = "«hunter2hunter2»";'),
    ("a.rs", "const API_TOKEN: &'static str = \"«hunter2hunter2»\";"),
    ("a.rs", 'let password: String = String::from("«a1b2c3d4e5f6g7»");'),
    ("a.ts", 'const apiKey: string = "«8f14e45fceea167a»";'),
    ("a.ts", 'password?: string = "«hunter2hunter2»"'),
    ("a.kt", 'val dbPassword: String = "«hunter2hunter2»"'),
    ("a.swift", 'let authToken: String? = "«hunter2hunter2»"'),
    ("a.c", 'char db_password[] = "«hunter2hunter2»";'),
    ("a.c", 'char password[32] = "«hunter2hunter2»";'),
    ("a.c", '#define DB_PASSWORD "«hunter2hunter2»"'),
    ("Makefile", "DB_PASSWORD ?= «hunter2hunter2»"),
    # =>
    ("a.rb", ':password => "«hunter2hunter2»"'),
    ("a.rb", "'api_key' => '«8f14e45fceea167a»',"),
    ("a.php", "'password' => '«hunter2hunter2»',"),
    ("a.php", "define('DB_PASSWORD', '«hunter2hunter2»');"),
    ("a.php", '$db_password = "«hunter2hunter2»";'),
    ("a.py", 'os.environ.setdefault("DB_PASSWORD", "«hunter2hunter2»")'),
    ("a.py", 'if password == "«hunter2hunter2»":'),
    # YAML blocks
    ("a.yml", "password: |\n  «hunter2hunter2»\nuser: bob"),
    ("a.yml", "db_password: >-\n    «correct horse\n    battery»\nuser: bob"),
    ("a.yml", "x:\n  - secret: |\n      «line one is long\n\n      line two»\n  - y"),
    ("a.yml", "api_token: |2  # comment\n   «hunter2hunter2»"),
    ("k8s.yml", "- name: DB_PASSWORD\n  value: «hunter2hunter2»"),
    ("k8s.yml", '- name: DB_PASSWORD\n  value: "«hunter2hunter2»"'),
    ("ecs.json", '{"name": "DB_PASSWORD", "value": "«hunter2hunter2»"}'),
    # XML
    ("settings.xml", "<password>«hunter2hunter2»</password>"),
    ("settings.xml", "<db.passphrase>«correcthorse»</db.passphrase>"),
    ("web.config", '<add key="DbPassword" value="«hunter2hunter2»"/>'),
    # URLs
    ("a.py", 'URL = "postgres://app:«s3cr3t»@db/main"'),
    ("a.txt", "see https://bob:«hunter2hunter2»@example.org/x"),
    ("a.txt", "redis://:«p4ssw0rd!x»@cache:6379/0"),
    ("a.txt", "mongodb+srv://app:«p%40ss/w0rd»@cluster0.mongodb.net"),
    ("a.txt", "amqp://app:«p@ss#word»@mq:5672/"),
    ("a.txt", "https://x-access-token:«abcd1234efgh»@github.com/o/r"),
    ("a.txt", "https://«" + HEX + "»@sentry.io/12"),
    ("a.txt", "https://«" + HEX + "»:x-oauth-basic@github.com/o/r"),
    # Authorization
    ("a.sh", 'curl -H "Authorization: Bearer «abcdefghijkl»" x'),
    ("a.http", "Authorization: Basic «Ym9iOmh1bnRlcjI=»"),
    ("a.py", 'headers = {"Authorization": "Bearer «a1b2c3d4e5f6»"}'),
    ("a.rb", "'Authorization' => 'Token «a1b2c3d4e5f6»'"),
    ("a.py", "headers['authorization'] = 'bearer «a1b2c3d4e5f6»'"),
    ("a.js", "xhr.setRequestHeader('Authorization', 'Basic «Ym9iOmh1bnRlcjI=»')"),
    ("a.http", "Proxy-Authorization: Basic «Ym9iOmh1bnRlcjI=»"),
    ("a.http", "X-Api-Key: «8f14e45fceea167a»"),
    ("a.txt", "Bearer «eyA1b2C3d4E5f6G7h8»"),
    ("a.sh", "curl -u bob:«hunter2hunter2» https://x"),
    ("a.sh", "mysql --password «hunter2hunter2»"),
    ("a.sh", "tool --api-token=«abcd1234efgh» run"),
    ("a.txt", "machine host login bob password «hunter2hunter2»"),
    ("a.sql", "CREATE USER x IDENTIFIED BY '«hunter2 hunter2»';"),
    ("a.sql", "ALTER ROLE x WITH PASSWORD '«hunter2hunter2»';"),
    # tokens of today
    ("a", "«github_pat_11ABCDEFG0" + ALNUM + "»"),
    ("a", "«glpat-" + ALNUM[:20] + "»"),
    ("a", "«gldt-" + ALNUM[:20] + "»"),
    ("a", "«npm_" + (ALNUM * 2)[:36] + "»"),
    ("a", "«pypi-AgEIcHlwaS5vcmc" + ALNUM * 2 + "»"),
    ("a", "«hf_" + (ALNUM * 2)[:34] + "»"),
    ("a", "«sk-proj-" + ALNUM + "»"),
    ("a", "«sk-svcacct-" + ALNUM + "»"),
    ("a", "«rk_live_" + ALNUM + "»"),
    ("a", "«ASIAIOSFODNN7ABCDEFG»"),
    ("a", "«xapp-1-A012-345-" + HEX + "»"),
    ("a", "«SG." + ALNUM[:22] + "." + (ALNUM * 2)[:43] + "»"),
    ("a", "«hvs." + ALNUM + "»"),
    ("a", "«hvb." + ALNUM + "»"),
    ("a", "«ya29." + ALNUM + "»"),
    ("a", "«GOCSPX-" + ALNUM[:28] + "»"),
    ("a", "«dop_v1_" + HEX * 2 + "»"),
    ("a", "«shpat_" + HEX[:32] + "»"),
    ("a", "«dckr_pat_" + ALNUM + "»"),
    ("a", "«whsec_" + ALNUM + "»"),
    ("a", "«" + ALNUM[:14] + ".atlasv1." + ALNUM * 2 + "»"),
    ("a", "«AGE-SECRET-KEY-1" + (ALNUM * 2).upper() + "»"),
    # webhooks and connection strings
    ("a", "https://hooks.slack.com/services/«T0AB1CD2E/B0AB1CD2E/" + ALNUM[:24] + "»"),
    ("a", "https://discord.com/api/webhooks/«1234567890/" + ALNUM * 2 + "»"),
    ("a", "https://discordapp.com/api/v9/webhooks/«1234567890/" + ALNUM * 2 + "»"),
    ("a", "https://acme.webhook.office.com/webhookb2/«11aa-22bb@33cc/IncomingWebhook/" + HEX + "/44dd»"),
    ("a", "https://outlook.office.com/webhook/«11aa-22bb@33cc/IncomingWebhook/" + HEX + "»"),
    ("a", "https://api.telegram.org/bot«123456789:AAH" + ALNUM + "xyz»/send"),
    ("a", "https://x.azure.com/wf?sp=r&sig=«" + ALNUM + "»"),
    ("a", "AccountName=acme;AccountKey=«" + B64 + "»;EndpointSuffix=core"),
    ("a.cs", '"Endpoint=sb://x/;SharedAccessKey=«' + B64 + '»"'),
    ("a.cs", '"Server=x;Uid=sa;Pwd=«a1b2c3d4e5f6»;"'),
    # private keys
    ("a", "«-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + KEY_LINES + f"\n=ab12\n{PGP_END}»"),
    ("a", "«-----BEGIN RSA PRIVATE KEY-----\n" + KEY_LINES + "»\nand so on"),
    ("a", "«-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: X,1\n\n" + KEY_LINES + "»\n"),
    ("a", "«---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n" + KEY_LINES + f"\n{SSH2_END}»"),
    ("a.py", 'KEY = "«-----BEGIN PRIVATE KEY-----\\n' + KEY_LINES.replace("\n", "\\n") + '»"'),
    ("a", "Private-Lines: 4\n«" + KEY_LINES + "»\nPrivate-MAC: «" + HEX + "»\n"),
]  # fmt: skip


def parts(marked: str) -> tuple[str, list[str]]:
    secrets = [piece.partition("»")[0] for piece in marked.split("«")[1:]]
    return marked.replace("«", "").replace("»", ""), secrets


@pytest.mark.parametrize(("path", "marked"), PLANTED)
def test_a_planted_secret_goes_and_what_is_around_it_stays(path: str, marked: str) -> None:
    text, secrets = parts(marked)
    scrubbed = strict(text, path)
    for secret in secrets:
        for line in secret.split("\n"):
            assert len(line) < 4 or line not in scrubbed
    around = [piece.rpartition("»")[2] for piece in marked.split("«")]
    if redact(text.encode()) == text.encode():
        assert all(piece.strip("\n") in scrubbed for piece in around)
    assert scrubbed.count("\n") == text.count("\n")
    assert "[REDACTED:" in scrubbed
    assert strict(scrubbed, path) == scrubbed


def is_left_by_the_standard_rules(marked: str) -> bool:
    text, secrets = parts(marked)
    return all(secret in redact(text.encode()).decode() for secret in secrets)


def test_the_standard_rules_leave_nearly_all_of_what_was_planted() -> None:
    left = [marked for _, marked in PLANTED if is_left_by_the_standard_rules(marked)]
    assert (len(PLANTED), len(left)) == (133, 130)


@pytest.mark.parametrize(("path", "marked"), PLANTED)
def test_a_secret_that_the_standard_rules_leave_is_counted(path: str, marked: str) -> None:
    text, secrets = parts(marked)
    if is_left_by_the_standard_rules(marked):
        assert count_secrets(text.encode(), path) == len(secrets)


ORDINARY = [
    ("a.py", "token = next_token()"),
    ("a.py", 'password = request.form["password"]'),
    ("a.py", "secret: Optional[str] = None"),
    ("a.py", "db_password = get_password(user_id, 1)"),
    ("a.py", "self.access_token = response.json()['access_token']"),
    ("a.py", "connect(user=user, db_password=settings.DB_PASSWORD, api_token=api_token_v2)"),
    ("a.py", 'db_password = os.environ["DB_PASSWORD"]'),
    ("a.py", 'api_token = getattr(config, "api_token", "")'),
    ("a.py", 'parser.add_argument("--db-password", "name of the variable")'),
    ("a.py", 'error_token = "unexpected_token"'),
    ("a.py", 'PASSWORD_FIELD = "a field for the password"'),
    ("a.py", 'raise ValueError(f"bad user_token: {token!r}")'),
    ("a.py", 'auth_token = f"{user}:{password}"'),
    ("a.py", 'headers = {"Authorization": f"Bearer {token}"}'),
    ("a.py", "for user_token in tokens: yield user_token.value1"),
    ("a.py", 'if "-----BEGIN RSA PRIVATE KEY-----" in text:\n    return parse_private_key(text)'),
    ("a.py", 'url = f"postgres://{user}:{password}@{host}/db"'),
    ("a.py", 'url = "https://user:pass@example.org/"'),
    ("a.js", "const dbPassword = process.env.DB_PASSWORD;"),
    ("a.js", "const clientSecret = config.get('clientSecret');"),
    ("a.js", "const nextToken = this.lexer.peek().kind;"),
    ("a.js", "headers: { Authorization: `Bearer ${accessToken}` }"),
    ("a.js", "import x from 'http://localhost:4873/@scope/package1'"),
    ("a.ts", "interface X { dbPassword: string; apiToken?: string | null }"),
    ("a.ts", "type Kind = { accessToken: |\n  string };"),
    ("a.rs", "pub struct X { api_token: String, secret_key: [u8; 32] }"),
    ("a.rb", "user.auth_token => value"),
    ("a.c", "static const char *user_password = NULL;"),
    ("a.go", "dbPassword := cfg.Database.Password"),
    ("a.yml", "db_password: ${DB_PASSWORD}"),
    ("a.yml", "db_password: {{ vault_db_password }}"),
    ("a.yml", "db_password: !vault |"),
    ("a.yml", "api_token: your-token-here"),
    ("a.yml", "API_TOKEN: ${{ secrets.API_TOKEN }}"),
    ("a.yml", "secret_key: <paste it here>"),
    ("a.yml", "db_password: xxxxxxxxxxxx"),
    ("a.ini", "db_password ="),
    ("a.sh", 'curl -H "Authorization: Bearer $TOKEN" -u "$USER:$PASSWORD" x'),
    ("a.sh", "export DB_PASSWORD=$(pass show db)"),
    ("a.sh", "echo token and password"),
    ("a.md", "The access token: required. A client secret is a password for programs."),
    (
        "a.md",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX".replace("T", "0"),
    ),
    ("a.md", "glpat-xxxxxxxxxxxxxxxxxxxx and npm_config_registry_with_long_names_in_it"),
    ("a.xml", "<password>short</password><password>${env.PASSWORD}</password>"),
    ("a.xml", '<x publicKeyToken="b03f5f7f11d50a3a"/>'),
    ("a.json", '{"type": "string", "title": "password", "format": "password"}'),
    ("a.json", '{"names":["password","next9value"]}'),
    ("a.html", '<input type="password" name="password" autocomplete="new-password">'),
]


@pytest.mark.parametrize(("path", "text"), ORDINARY)
def test_ordinary_text_is_left_as_the_standard_rules_leave_it(path: str, text: str) -> None:
    assert strict(text, path) == redact(text.encode()).decode()


def test_a_bare_word_is_a_literal_in_settings_and_an_expression_in_code() -> None:
    line = "db_password: correcthorse"
    assert strict(line, "a.yml") == "db_password: [REDACTED:SECRET]"
    assert strict(line, "a.py") == line


def test_blocks_and_keys_keep_the_number_of_lines() -> None:
    assert strict("pwd: |\n  hunter2\n  hunter2\nx: 1", "a.yml") == "pwd: |\n  [REDACTED:SECRET]\n\nx: 1"
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "A1" * 32 + "\n" + "B2" * 32
    assert strict(f"x\n{key}\n\nprose") == "x\n[REDACTED:PRIVATE_KEY]\n\n\n\nprose"


def test_an_unfinished_key_ends_where_its_text_is_base64_no_more() -> None:
    text = 'K = """-----BEGIN EC PRIVATE KEY-----\n' + "A1" * 32 + '\n"""\n\ndef f():\n    return 1\n'
    assert strict(text, "a.py") == 'K = """[REDACTED:PRIVATE_KEY]\n\n"""\n\ndef f():\n    return 1\n'


def test_the_tail_that_the_standard_rules_leave_in_settings_goes_too() -> None:
    assert redact(b"password: correct horse").decode() == "password: correct horse"  # 7 bytes are too short
    assert redact(b"password: hunter2hunter2 horse").decode() == "password: [REDACTED:SECRET] horse"
    assert strict("password: hunter2hunter2 horse", "a.yml") == "password: [REDACTED:SECRET]"


LITERALS = sorted(
    {row.literal.decode() for row in strict_shapes.ROWS}
    | {f"db_{word.decode()}" for word, _ in strict_assignments.WORDS}
)
PIECES = st.sampled_from(
    [
        *LITERALS,
        *("=", ":", '"', "'", "`", '\\"', ":=", "=>", "|", ">", "/", "@", "-", "_", ".", ",", ";", "#", "$"),
        *("(", ")", "[", "]", "{", "}", "<"),
        *("\n", " ", "  ", "hunter2hunter2", ALNUM, HEX, "A1" * 16, "é", "\u2028", "://", "://u:", "value"),
        *(
            "Bearer ",
            "Authorization: ",
            "password",
            "token=",
            "[REDACTED:SECRET]",
            "[REDACTED:",
            "ASIA",
            "AKIA",
        ),
        *("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "Private-Lines: 1", "eyJ"),
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)
PATHS = st.sampled_from(["a.py", "a.yml", "a.md"])


@settings(max_examples=300, deadline=None)
@given(TEXTS, PATHS)
@example("ASIA" * 100, "a.md")
@example("é" * 400, "a.md")
@example(f"db_token={'é' * 300}", "a.md")
def test_scrubbing_twice_is_scrubbing_once(text: str, path: str) -> None:
    once = strict(text, path)
    assert strict(once, path) == once
    assert redact(once.encode()).decode() == once


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), PATHS)
def test_any_text_stays_valid(noise: bytes, path: str) -> None:
    text = noise.decode(errors="replace")
    assert strict(f"db_password={text}", path).count("\n") >= text.count("\n") - 1


@pytest.mark.process
def test_no_repeat_of_a_literal_takes_more_than_linear_time(root: Path) -> None:
    # 20 kB each: quadratic work on the worst of them took half a minute.
    script = root / "eval/hardening/redaction.py"
    run = subprocess.run(
        [sys.executable, script, "--bytes", "20000"], capture_output=True, timeout=300, check=False, text=True
    )
    n_heads = len(strict_shapes.ROWS) + 8 * 12 + 5
    assert (run.returncode, run.stdout) == (0, f"{19 * n_heads} tries, 0 faults\n")
