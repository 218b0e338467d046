"""Operations on shapes drawn at random, against torch."""
