# The wording of every letter, in one place.
module LetterTemplates
  TEXTS = {
    soon: 'Dear %<name>s, "%<title>s" is due on %<due>s. You may renew it online.',
    notice_1: 'Dear %<name>s, "%<title>s" was due on %<due>s. A fee may apply.',
    notice_2: 'Second notice: "%<title>s" is still out. Please return it.',
    notice_3: 'Last notice: we will charge the price of a new copy of "%<title>s".'
  }.freeze

  def self.render(step, loan)
    format(TEXTS.fetch(step), name: loan.name, title: loan.title, due: format_date(loan.due))
  end

  def self.format_date(date)
    date.strftime('%-d %B %Y')
  end

  def self.shorten(title, limit = 60)
    return title if title.length <= limit

    "#{title[0, limit - 1]}…"
  end
end
