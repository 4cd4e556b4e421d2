"""The words for people: sentences, numerals, and the linter that reads them."""
