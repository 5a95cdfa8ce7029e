import { isMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import { failureReasons } from '../status/failure-reasons.ts'
import type { Retry } from '../types.ts'
import { attribute, between, integers, oneOf, oneOrMore, readFields } from './read.ts'
import type { Read, Spot } from './spot.ts'

const attempts = between(0, 2)
const reasons = ['always', ...Object.keys(failureReasons)]
const fields = {
  max: attribute(attempts),
  when: attribute(oneOrMore(oneOf(reasons, entryText.notInList))),
  exit_codes: attribute(exitCodes),
}

export const retry: Read<Retry> = (value, spot) => {
  if (typeof value === 'number') {
    const max = attempts(value, spot)
    return max === undefined ? undefined : { max, when: ['always'], exitCodes: [] }
  }
  if (!isMap(value)) return spot.failHere(entryText.retryShape)
  const found = readFields(fields, value, spot)
  // Exit codes alone are the only condition then.
  const when = found.when ?? (found.exitCodes ? [] : ['always'])
  return { max: found.max ?? 0, when, exitCodes: found.exitCodes ?? [] }
}

export function exitCodes(value: unknown, spot: Spot): number[] | undefined {
  return integers(value) ?? spot.fail(entryText.integerOrArray)
}
