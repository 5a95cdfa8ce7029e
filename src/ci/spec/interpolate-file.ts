import { ConfigError } from '../config/config-error.ts'
import { checkSize, isMap, type Data, type DataMap } from '../config/data.ts'
import { isStrings } from '../entries/read.ts'
import type { YamlFile } from '../config/yaml.ts'
import type { Surroundings } from '../include/context.ts'
import { inputText } from '../messages.ts'
import { componentWords } from './header.ts'
import type { InputSpec } from './input-spec.ts'
import { interpolate } from './interpolate.ts'
import { resolveInputs } from './values.ts'

/**
 * The content of a file with the given inputs put in. Only a file with a header takes inputs; in all others blocks
 * mean nothing and stay. Throws a ConfigError.
 */
export function interpolateFile(
  { header, content }: YamlFile,
  specs: readonly InputSpec[],
  given: DataMap | null,
  { variables, component }: Surroundings,
): Data {
  if (header === null) {
    if (given !== null && Object.keys(given).length > 0) throw new ConfigError(inputText.noHeader)
    return content
  }
  const inputs = resolveInputs(specs, given ?? {})
  const { spec } = header
  const asked = isMap(spec) && isStrings(spec['component']) ? spec['component'] : []
  const facts = componentWords.flatMap((word) =>
    component !== null && asked.includes(word) ? [[word, component[word]] as const] : [],
  )
  const values = new Map<string, ReadonlyMap<string, Data>>([
    ['inputs', inputs],
    ['component', new Map(facts)],
  ])
  const data = interpolate(content, values, (text) => variables.expandUnmasked(text))
  checkSize(data)
  return data
}
