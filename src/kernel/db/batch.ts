/** Whatever a statement with this text asks for, and where the rows of one asker end up. */
export interface Batch {
  readonly text: string
  /** Of all askers' values, an array for each parameter. */
  values(asked: readonly (readonly unknown[])[]): unknown[][]
}

/** The name of the column that tells whose a row is, from 1. */
export const asker = 'asker'

/**
 * One statement that does what a `select` does for many askers, each with values of his own: the `select` runs once for
 * each row of its parameters, which come as arrays. Null where that cannot be, since a parameter is itself an array
 * (`unnest` would take it apart) or there is none.
 */
export function batchOf(text: string, types: readonly string[]): Batch | null {
  if (types.length === 0 || types.some((type) => type.endsWith('[]'))) return null
  const arrays = types.map((type, at) => `$${at + 1}::${type}[]`).join(', ')
  const columns = types.map((_, at) => `p${at + 1}`).join(', ')
  // `offset 0` keeps the planner from taking the two apart: it plans the inner one as it does on its own.
  return {
    text: `select asked.${asker}, found.*
      from unnest(${arrays}) with ordinality as asked (${columns}, ${asker})
      cross join lateral (${text.replaceAll(/\$(\d+)/g, 'asked.p$1')} offset 0) found`,
    values: (asked) => types.map((_, at) => asked.map((values) => values[at])),
  }
}
