import {
  buildSchema,
  execute,
  GraphQLError,
  Kind,
  parse,
  validate,
  type DocumentNode,
  type ExecutionResult,
} from 'graphql'
import type { Actor } from '../../access/index.ts'
import type { InnerCaller } from '../../kernel/endpoint/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import { Asking, type AskingServices } from './asking.ts'
import { checkLength, checkSize, mostTokens } from './limits.ts'
import { roots } from './roots.ts'
import { schema as written } from './schema.ts'

export interface GraphqlServices extends AskingServices {
  readonly log: Logger
}

export interface Operation {
  readonly query: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
  /** What writes is refused: it came where only reading is. */
  readonly readOnly: boolean
}

export interface Result {
  readonly status: 200 | 422
  readonly body: ExecutionResult
}

const schema = buildSchema(written)

/** Answers as the language has it: what went wrong stands under `errors`, beside what did not. */
export async function run(
  services: GraphqlServices,
  operation: Operation,
  actor: Actor,
  caller: InnerCaller,
): Promise<Result> {
  let document: DocumentNode
  try {
    document = readDocument(operation.query)
  } catch (error) {
    if (error instanceof GraphQLError) return { status: 200, body: { errors: [error] } }
    throw error
  }
  if (operation.readOnly && writes(document))
    return { status: 422, body: { errors: [new GraphQLError('Mutations are sent with POST')] } }
  const faults = validate(schema, document)
  if (faults.length > 0) return { status: 200, body: { errors: faults } }
  const { data, errors } = await execute({
    schema,
    document,
    rootValue: roots(new Asking(services, actor, caller)),
    variableValues: operation.variables,
    operationName: operation.operationName,
    fieldResolver,
  })
  const body = {
    ...(data !== undefined && { data }),
    ...(errors !== undefined && { errors: errors.map((error) => told(error, services.log)) }),
  }
  return { status: 200, body }
}

/** Things are as the API shows them, whose names have no capitals: `webUrl` is its `web_url`. */
function fieldResolver(
  source: Readonly<Record<string, unknown>>,
  args: unknown,
  _context: unknown,
  { fieldName }: { readonly fieldName: string },
): unknown {
  const own =
    fieldName in source ? fieldName : fieldName.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const value = source[own]
  return typeof value === 'function' ? (value as (args: unknown) => unknown)(args) : value
}

function readDocument(query: string): DocumentNode {
  checkLength(query)
  const document = parse(query, { maxTokens: mostTokens })
  checkSize(document)
  return document
}

function writes({ definitions }: DocumentNode): boolean {
  return definitions.some(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION && definition.operation === 'mutation',
  )
}

/** What nobody foresaw is logged, and told to nobody. */
function told(error: GraphQLError, log: Logger): GraphQLError {
  const { cause } = error
  if (cause === undefined || cause instanceof GraphQLError) return error
  log.error({ err: cause, path: error.path }, 'a field could not be answered')
  return new GraphQLError('Internal server error', { nodes: error.nodes, path: error.path })
}
