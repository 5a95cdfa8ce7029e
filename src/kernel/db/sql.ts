import {
  CompiledQuery,
  sql as kysely,
  type AbortableQueryOptions,
  type AliasedRawBuilder,
  type Expression,
  type KyselyPlugin,
  type QueryExecutorProvider,
  type QueryResult,
  type RawBuilder,
  type RawNode,
  type Sql,
} from 'kysely'
import { compileTemplates, Template } from './compile.ts'

/**
 * A template that is left as it was written. Kysely makes a tree of frozen nodes of each at once, and walks it for the
 * text: most of what a small statement costs. Here that is only done for a query of Kysely's that it is put into.
 */
class WrittenTemplate<Row> extends Template implements RawBuilder<Row> {
  get isRawBuilder(): true {
    return true
  }

  get expressionType(): Row | undefined {
    return undefined
  }

  as<Alias extends string>(alias: Alias | Expression<unknown>): AliasedRawBuilder<Row, Alias> {
    return this.#ofKysely().as(alias as Alias)
  }

  $castTo<Other>(): RawBuilder<Other> {
    return new WrittenTemplate(this.fragments, this.parameters)
  }

  $notNull(): RawBuilder<Exclude<Row, null>> {
    return this.$castTo()
  }

  withPlugin(plugin: KyselyPlugin): RawBuilder<Row> {
    return this.#ofKysely().withPlugin(plugin)
  }

  compile(provider: QueryExecutorProvider): CompiledQuery<Row> {
    return this.#ofKysely().compile(provider)
  }

  execute(provider: QueryExecutorProvider, options?: AbortableQueryOptions): Promise<QueryResult<Row>> {
    const made = compileTemplates(this)
    if (made === undefined) return this.#ofKysely().execute(provider, options)
    const query = CompiledQuery.raw(made.text, made.values) as CompiledQuery<Row>
    return provider.getExecutor().executeQuery(query, options)
  }

  toOperationNode(): RawNode {
    return this.#ofKysely().toOperationNode()
  }

  #ofKysely(): RawBuilder<Row> {
    return kysely<Row>(this.fragments as TemplateStringsArray, ...this.parameters)
  }
}

/** Names and constants that are remembered: they are of our own making, and not so many. */
const mostRemembered = 5_000

function remembered<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new Map<Key, Made>()
  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const made = make(key)
    if (known.size < mostRemembered) known.set(key, made)
    return made
  }
}

/** A longer list is seldom as long again: its text is not worth keeping. */
const longestList = 100
const comma = new WrittenTemplate<unknown>([', '], [])
/** As many as are asked for, with nothing in them. */
const fragments = remembered((count: number): readonly string[] => Array<string>(count).fill(''))

function join<Row = unknown>(
  list: readonly unknown[],
  separator: RawBuilder<unknown> = comma,
): RawBuilder<Row> {
  if (list.length > longestList) return kysely.join(list, separator)
  const parameters = list.flatMap((each, at) => (at === 0 ? [each] : [separator, each]))
  return new WrittenTemplate(fragments(parameters.length + 1), parameters)
}

/** Statements are written with this one, which is Kysely's `sql`, but quick. */
export const sql: Sql = Object.assign(
  <Row = unknown>(written: TemplateStringsArray, ...parameters: unknown[]): RawBuilder<Row> =>
    new WrittenTemplate<Row>(written, parameters),
  {
    ...kysely,
    ref: remembered((name: string) => kysely.ref<never>(name)),
    table: remembered((name: string) => kysely.table<never>(name)),
    lit: remembered((value: unknown) => kysely.lit(value as never)),
    raw: remembered((text: string) => kysely.raw<never>(text)),
    join,
  },
)
