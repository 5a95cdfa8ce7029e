import {
  GraphQLError,
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
} from 'graphql'

/** Characters of a query. */
const longest = 10_000
/** What it may consist of, which bounds the time that reading it takes. */
export const mostTokens = 2_000
const deepest = 20
/** Fields of one operation, those of fragments as often as they are used. */
const mostFields = 250
/** The same of what the schema says of itself, which is told from memory. */
const mostIntrospected = 500

interface Measure {
  readonly depth: number
  readonly fields: number
  readonly introspected: number
}

const nothing: Measure = { depth: 0, fields: 0, introspected: 0 }

export function checkLength(query: string): void {
  if (query.length > longest) throw new GraphQLError(`The query is longer than ${longest} characters`)
}

/** Refuses what asks for too much, before anything else is done with it: fragments in fragments grow without end. */
export function checkSize(document: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  const measured = new Map<string, Measure>()

  const ofFragment = (name: string): Measure => {
    const known = measured.get(name)
    if (known !== undefined) return known
    // One that contains itself is refused later, by the rules of the language.
    measured.set(name, nothing)
    const definition = fragments.get(name)
    const found = definition === undefined ? nothing : ofSelections(definition.selectionSet)
    measured.set(name, found)
    return found
  }

  const ofSelections = ({ selections }: SelectionSetNode): Measure =>
    selections
      .map((selection) => {
        if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value)
        if (selection.kind === Kind.INLINE_FRAGMENT) return ofSelections(selection.selectionSet)
        const { name, selectionSet } = selection
        const inner = selectionSet === undefined ? nothing : ofSelections(selectionSet)
        const depth = inner.depth + 1
        return name.value.startsWith('__')
          ? { depth, fields: 0, introspected: inner.introspected + inner.fields + 1 }
          : { depth, fields: inner.fields + 1, introspected: inner.introspected }
      })
      .reduce(
        (sum, one) => ({
          depth: Math.max(sum.depth, one.depth),
          fields: sum.fields + one.fields,
          introspected: sum.introspected + one.introspected,
        }),
        nothing,
      )

  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION)
      continue
    const { depth, fields, introspected } = ofSelections(definition.selectionSet)
    if (depth > deepest) throw tooMuch('depth', depth, deepest)
    if (fields > mostFields) throw tooMuch('complexity', fields, mostFields)
    if (introspected > mostIntrospected) throw tooMuch('complexity', introspected, mostIntrospected)
  }
}

function tooMuch(what: string, found: number, most: number): GraphQLError {
  return new GraphQLError(`The query has a ${what} of ${found}, and may have ${most}`)
}
