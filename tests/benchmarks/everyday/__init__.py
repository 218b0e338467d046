"""Operations on the shapes that programs really have, and small programs, against torch."""
