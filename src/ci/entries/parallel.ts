import { isMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import { between, collect } from './read.ts'
import type { Read } from './spot.ts'
import { scalarText } from './variables.ts'

/** Variables of the matrix: key -> values to be combined. */
export type MatrixRow = [key: string, values: string[]][]
export type Parallel = { total: number } | { matrix: MatrixRow[] }

const mostJobs = 200

export const parallel: Read<Parallel> = (value, spot) => {
  if (typeof value === 'number' && Number.isInteger(value)) {
    const total = between(1, mostJobs)(value, spot)
    return total === undefined ? undefined : { total }
  }
  if (!isMap(value)) return spot.failHere(entryText.parallelShape)
  const unknown = Object.keys(value).filter((key) => key !== 'matrix')
  if (unknown.length > 0) return spot.fail(entryText.unknownKeys(unknown, ['matrix']))
  const rows = matrix(value['matrix'], spot.child('matrix'))
  return rows && { matrix: rows }
}

export const matrix: Read<MatrixRow[]> = (value, spot) => {
  if (!Array.isArray(value) || value.length === 0) return spot.fail(entryText.hashes)
  const rows = collect(value.flat(10) as unknown[], row)
  if (rows === undefined) return spot.fail(entryText.hashes)
  const jobs = rows.reduce(
    (sum, each) => sum + each.reduce((product, [, values]) => product * values.length, 1),
    0,
  )
  return jobs > mostJobs ? spot.fail(entryText.matrixTooBig(mostJobs)) : rows
}

function row(value: unknown): MatrixRow | undefined {
  if (!isMap(value) || Object.keys(value).length === 0) return undefined
  return collect(Object.entries(value), ([key, given]): MatrixRow[number] | undefined => {
    const values = collect(
      Array.isArray(given) ? (given.flat(10) as unknown[]) : [given],
      (item) => scalarText(item) ?? undefined,
    )
    return values && values.length > 0 ? [key, values] : undefined
  })
}

/** Every combination of one row, the last key varying fastest. */
export function combinations(rowOfMatrix: MatrixRow): { key: string; value: string }[][] {
  return rowOfMatrix.reduce<{ key: string; value: string }[][]>(
    (all, [key, values]) => all.flatMap((head) => values.map((value) => [...head, { key, value }])),
    [[]],
  )
}
