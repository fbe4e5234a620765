# Letters to readers whose books are due soon or late.
require_relative 'letter_templates'

module Mailer
  class Reminders
    SOON_DAYS = 3
    STEPS = [1, 8, 22].freeze

    def initialize(outbox)
      @outbox = outbox
    end

    def run(loans, today)
      loans.each do |loan|
        step = step_for(loan.due, today)
        deliver(loan, step) if step
      end
    end

    # nil when there is nothing to say today
    def step_for(due, today)
      late = (today - due).to_i
      return :soon if late == -SOON_DAYS

      index = STEPS.index(late)
      index && :"notice_#{index + 1}"
    end

    def deliver(loan, step)
      # A reader without an address gets a printed letter at the desk instead.
      if loan.email.nil?
        @outbox.print(LetterTemplates.render(step, loan))
      else
        @outbox.mail(loan.email, LetterTemplates.render(step, loan))
      end
    end

    def self.pause_for_holidays(calendar, today)
      # No overdue notice goes out while the branch is closed.
      calendar.open?(today) ? :send : :hold
    end
  end
end
