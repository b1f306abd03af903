"""What a carrier counts as the weight of a parcel."""

VOLUME_PER_KG = 5000
GRAMS_MAX = 30000


def volumetric(size):
    """Grams that a size stands for."""
    length, width, height = size
    return length * width * height * 1000 // VOLUME_PER_KG


def billable(grams, size):
    """Grams that are paid for: what it weighs, or what its size stands for."""
    if grams <= 0:
        raise ValueError("a parcel weighs something")
    if grams > GRAMS_MAX:
        raise ValueError("too heavy")
    return max(grams, volumetric(size))
