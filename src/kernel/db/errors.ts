import pg from 'pg'

export function isDatabaseError(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError
}

/** A `catch` that turns the violation of one named constraint into the API's words and passes on the rest. */
export function onConstraint(constraint: string, refusal: () => Error): (error: unknown) => never {
  return (error) => {
    throw isDatabaseError(error) && error.constraint === constraint ? refusal() : error
  }
}
