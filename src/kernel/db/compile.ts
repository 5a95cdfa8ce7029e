import type {
  IdentifierNode,
  OperationNode,
  RawBuilder,
  RawNode,
  ReferenceNode,
  TableNode,
  ValueNode,
} from 'kysely'

/** What the database is sent. Statements of the same templates have the very same text, put together once. */
export interface Statement {
  readonly text: string
  readonly values: unknown[]
}

/** A template of SQL as it was written, see `sql.ts`. */
export abstract class Template {
  readonly fragments: readonly string[]
  /** Other parts of statements, and values. */
  readonly parameters: readonly unknown[]

  constructor(fragments: readonly string[], parameters: readonly unknown[]) {
    this.fragments = fragments
    this.parameters = parameters
  }
}

/** Places that are kept, of some 60 bytes; callers' filters choose among many statements. */
const mostPlaces = 200_000

/**
 * How far a statement has come. Each part leads on to another place, and where a statement ends its text is kept: one that
 * was made before is found by its templates themselves, without a look at what they say.
 */
class Place {
  text: string | undefined
  /** Most lead to one other only. */
  #part: unknown
  #next: Place | undefined
  #others: Map<unknown, Place> | undefined

  after(part: unknown): Place {
    if (this.#next === undefined) {
      this.#part = part
      this.#next = newPlace()
      return this.#next
    }
    if (this.#part === part) return this.#next
    this.#others ??= new Map()
    let next = this.#others.get(part)
    if (next === undefined) {
      next = newPlace()
      this.#others.set(part, next)
    }
    return next
  }
}

let begin = new Place()
let places = 0

function newPlace(): Place {
  places += 1
  return new Place()
}

/** Stands for any value. */
const value = Symbol('value')

/**
 * The text and values of a statement that is made of templates, values and names of columns alone, as hot statements are.
 * Undefined where there is more in it: that is Kysely's to compile.
 */
export function compileTemplates(statement: RawBuilder<unknown>): Statement | undefined {
  if (places > mostPlaces) {
    begin = new Place()
    places = 0
  }
  const values: unknown[] = []
  const end = walk(begin, statement, values)
  if (end === undefined) return undefined
  end.text ??= written({ text: '', values: 0 }, statement).text
  return { text: end.text, values }
}

/** Where `part` leads; adds its values. */
function walk(from: Place, part: unknown, values: unknown[]): Place | undefined {
  if (part instanceof Template) {
    let at: Place | undefined = from.after(part.fragments)
    for (const each of part.parameters) {
      at = walk(at, each, values)
      if (at === undefined) return undefined
    }
    return at
  }
  if (isOfKysely(part)) {
    const text = wordsOf(part)
    return text === undefined ? undefined : from.after(text)
  }
  values.push(part)
  return from.after(value)
}

interface Writing {
  text: string
  values: number
}

function written(into: Writing, part: unknown): Writing {
  if (part instanceof Template) {
    into.text += part.fragments[0]!
    part.parameters.forEach((each, at) => {
      written(into, each)
      into.text += part.fragments[at + 1]!
    })
  } else if (isOfKysely(part)) {
    into.text += wordsOf(part)!
  } else {
    into.values += 1
    into.text += `$${into.values}`
  }
  return into
}

/** What Kysely was asked to make: names, constants, and whole queries. */
interface Source {
  toOperationNode(): OperationNode
}

function isOfKysely(part: unknown): part is Source {
  return typeof part === 'object' && part !== null && 'toOperationNode' in part
}

const known = new WeakMap<Source, string>()

/** The text of a name or constant. Undefined: it is more than that. */
function wordsOf(source: Source): string | undefined {
  const before = known.get(source)
  if (before !== undefined) return before
  const words = wordsOfNode(source.toOperationNode())
  if (words !== undefined) known.set(source, words)
  return words
}

function wordsOfNode(node: OperationNode): string | undefined {
  if (node.kind === 'ValueNode') return constant(node as ValueNode)
  if (node.kind === 'ReferenceNode') return nameOfColumn(node as ReferenceNode)
  if (node.kind === 'TableNode') return nameOfTable(node as TableNode)
  if (node.kind !== 'RawNode') return undefined
  const { sqlFragments, parameters } = node as RawNode
  const words = parameters.map(wordsOfNode)
  if (words.includes(undefined)) return undefined
  return sqlFragments.map((fragment, at) => fragment + (words[at] ?? '')).join('')
}

function constant({ value: told, immediate }: ValueNode): string | undefined {
  if (immediate !== true) return undefined
  if (typeof told === 'string') return `'${told.replaceAll("'", "''")}'`
  return typeof told === 'number' && Number.isSafeInteger(told) ? String(told) : undefined
}

/** `"table"."column"` */
function nameOfColumn({ column, table }: ReferenceNode): string | undefined {
  if (column.kind !== 'ColumnNode') return undefined
  const name = quoted(column.column)
  if (table === undefined) return name
  const place = nameOfTable(table)
  return place && `${place}.${name}`
}

function nameOfTable({ table }: TableNode): string | undefined {
  return table.schema === undefined ? quoted(table.identifier) : undefined
}

function quoted({ name }: IdentifierNode): string {
  return `"${name.replaceAll('"', '""')}"`
}
