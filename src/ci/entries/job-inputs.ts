import { isMap } from '../config/data.ts'
import { entryText, inputText } from '../messages.ts'
import { readInput, type InputSpec } from '../spec/input-spec.ts'
import { faultsOfDefault } from '../spec/values.ts'
import { collect } from './read.ts'
import type { Read } from './spot.ts'

const mostInputs = 50

/** What can be changed when the job is started by hand; every input has a default, so that it also starts by itself. */
export const jobInputs: Read<InputSpec[]> = (value, spot) => {
  if (!isMap(value)) return spot.fail(entryText.hash)
  const entries = Object.entries(value)
  if (entries.length > mostInputs) return spot.fail(entryText.tooLongList(mostInputs))
  return collect(entries, ([name, given]) => {
    const at = spot.child(name)
    const spec = readInput(name, given, at, { withRules: false })
    if (spec === undefined) return undefined
    if (spec.default === undefined || spec.default === null) return at.failHere(inputText.noDefault)
    const [fault] = faultsOfDefault(spec)
    return fault === undefined ? spec : at.failPlain(fault)
  })
}
