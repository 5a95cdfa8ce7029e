import pg from 'pg'

export function isDatabaseError(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError
}

/** What the class of errors begins with that say that the server ends a connection. */
const goingDown = '57P'

/** Not one that comes of a connection that broke or a server that stops. */
export function isOfStatement(error: unknown): boolean {
  return isDatabaseError(error) && error.code?.startsWith(goingDown) !== true
}

/** A `catch` that turns the violation of one named constraint into the API's words and passes on the rest. */
export function onConstraint(constraint: string, refusal: () => Error): (error: unknown) => never {
  return (error) => {
    throw isDatabaseError(error) && error.constraint === constraint ? refusal() : error
  }
}
