import { parseExpression, type Expression } from '../expression/parser.ts'
import { isMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import { compilePattern, splitPattern } from '../text/regex.ts'
import { atMostItems, attribute, collect, isStrings, oneOf, readFields, strings } from './read.ts'
import type { Read, Spot } from './spot.ts'

/** `only` or `except`: conditions on the ref and source, the variables, the changed paths. */
export interface Filter {
  refs?: string[]
  variables?: Expression[]
  changes?: string[]
  kubernetes?: 'active'
}

/** What `only` is when a job has neither it nor rules. */
export const defaultOnly: Filter = { refs: ['branches', 'tags'] }

const fields = {
  refs: attribute(refs),
  variables: attribute(expressions),
  changes: attribute(atMostItems(50, strings)),
  kubernetes: attribute(oneOf(['active'] as const)),
}

export const filter: Read<Filter> = (value, spot) => {
  if (isMap(value)) return readFields(fields, value, spot)
  if (!Array.isArray(value)) return spot.failHere(entryText.policyShape)
  const found = refs(value, spot)
  return found && { refs: found }
}

/** Names, the known words, and patterns; what looks like a pattern has to be one. */
function refs(value: unknown, spot: Spot): string[] | undefined {
  return isStrings(value) && value.every(isRef) ? value : spot.fail(entryText.policyList)
}

function isRef(text: string): boolean {
  const pattern = splitPattern(text)
  return pattern === null || compilePattern(pattern.source, pattern.flags) !== null
}

function expressions(value: unknown, spot: Spot): Expression[] | undefined {
  if (!isStrings(value)) return spot.fail(entryText.stringArray)
  return collect(value, (text) => parseExpression(text) ?? undefined) ?? spot.fail(entryText.expression)
}
