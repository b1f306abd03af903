"""Who paid what for all."""
from bill.split import split


class Purse:
    """A common purse: amounts in cents that somebody paid for some or all."""

    def __init__(self, names):
        if len(set(names)) != len(names) or not names:
            raise ValueError("a purse needs people with names of their own")
        self.names = list(names)
        self.paid = dict.fromkeys(names, 0)
        self.owed = dict.fromkeys(names, 0)

    def pay(self, name, amount, among=None):
        """@name paid an amount for those in @among, or for all."""
        people = self.names if among is None else [n for n in self.names if n in set(among)]
        if name not in self.paid:
            raise KeyError(name)
        for one, part in zip(people, split(amount, len(people))):
            self.owed[one] += part
        self.paid[name] += amount

    def balance(self):
        """What each gets (more than 0) or has to pay; 0 in all."""
        return {name: self.paid[name] - self.owed[name] for name in self.names}
