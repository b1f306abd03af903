import shop

assert shop
