"""Prices of parcels. Cents, grams and centimetres."""
