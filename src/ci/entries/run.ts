import { isMap, type DataMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import { attribute, map, readFields, string } from './read.ts'
import type { Read, Spot } from './spot.ts'
import { scalarText } from './variables.ts'

const fields = {
  name: attribute(string),
  script: attribute(string),
  step: attribute((value: unknown, spot: Spot) =>
    typeof value === 'string' || isMap(value) ? value : spot.fail(entryText.hashOrString),
  ),
  env: attribute(environment),
  inputs: attribute(map),
}

/** Steps for runners that know them; kept as given. */
export const run: Read<unknown[]> = (value, spot) => {
  if (!Array.isArray(value) || !value.every(isMap)) return spot.fail(entryText.hashes)
  for (const step of value) readFields(fields, step, spot.child('step'), checkStep)
  return value
}

function checkStep(step: DataMap, spot: Spot): void {
  if (!step['name']) spot.key('name').fail(entryText.blank)
  if ('script' in step === 'step' in step) spot.fail(entryText.exactlyOne(['script', 'step']))
}

function environment(value: unknown, spot: Spot): DataMap | undefined {
  const fine = isMap(value) && Object.values(value).every((one) => scalarText(one) !== null)
  return fine ? value : spot.fail(entryText.hash)
}
