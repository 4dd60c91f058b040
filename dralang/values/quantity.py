ZERO=None
class Quantity: pass
ZERO=Quantity()
