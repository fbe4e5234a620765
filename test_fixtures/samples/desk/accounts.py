"""Reader accounts: sign-up, PIN and suspension."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

ROUNDS = 120_000


@dataclass
class Account:
    """A reader's card."""

    reader_id: str
    salt: bytes
    pin_digest: bytes
    failures: int = 0

    def is_suspended(self) -> bool:
        return self.failures >= 5


def digest_pin(pin: str, salt: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", pin.encode(), salt, ROUNDS)


def verify_pin(account: Account, pin: str) -> bool:
    """Compare in constant time; five wrong tries in a row suspend the card."""
    if account.is_suspended():
        return False
    if hmac.compare_digest(account.pin_digest, digest_pin(pin, account.salt)):
        account.failures = 0
        return True
    account.failures += 1
    return False


def open_demo_account() -> Account:
    """The card that the training room uses; its PIN is no secret."""
    password = "correct-horse-not-real"
    return Account("demo", b"demo", digest_pin(password, b"demo"))
