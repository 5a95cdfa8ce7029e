import { Section } from '@asciidoctor/core'

interface Titled {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly catalog: { readonly refs: Readonly<Record<string, unknown>> }
}

const withoutNumber = Section.generateId.bind(Section)
/** By the ids of a document: the number that was given last to each id that stands there several times. */
const given = new WeakMap<object, Map<string, number>>()

/**
 * The id of a section, as the library would give it. That tries all numbers from 2 on for each title that was there
 * before, so that a document of many equal titles takes the square of their number.
 */
function idOf(title: string, document: object): string {
  const { attributes, catalog } = document as Titled
  const { refs } = catalog
  const id = withoutNumber(title, { attributes, catalog: { refs: {} } })
  if (!(id in refs)) return id
  const numbers = given.get(refs) ?? new Map<string, number>()
  given.set(refs, numbers)
  const { idseparator: separator } = attributes
  const begin = `${id}${typeof separator === 'string' ? separator : '_'}`
  let number = (numbers.get(id) ?? 1) + 1
  while (`${begin}${number}` in refs) number += 1
  numbers.set(id, number)
  return `${begin}${number}`
}

export function numberQuickly(): void {
  Section.generateId = idOf
}
