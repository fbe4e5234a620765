# The monthly digest for the staff: what was borrowed, and which shelves need room.
require_relative 'letter_templates'

class ShelfPlan
  CAPACITY = 40

  def initialize(shelves)
    @shelves = shelves
  end

  def crowded
    # A shelf is crowded from nine tenths of its capacity on.
    @shelves.select { |shelf| shelf.copies.size >= CAPACITY * 0.9 }
  end

  def weed(shelf, today)
    # Copies nobody borrowed for five years are offered to other branches.
    shelf.copies.select { |copy| (today - copy.last_loan).to_i > 5 * 365 }
  end

  def digest(today)
    crowded.map do |shelf|
      titles = weed(shelf, today).map { |copy| LetterTemplates.shorten(copy.title) }
      "#{shelf.name}: #{titles.join(', ')}"
    end
  end
end
