import { Fields, Flag, Nullable, OneOf, Text } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'

const before = {
  variable_type: OneOf('env_var', 'file'),
  key: Text(),
  value: Nullable(Text()),
  hidden: Flag(),
  protected: Flag(),
  masked: Flag(),
  raw: Flag(),
}
const description = Nullable(Text())

export const Variable = Fields({ ...before, environment_scope: Text(), description })
/** Where variables know no scopes. */
export const UnscopedVariable = Fields({ ...before, description })

/** A row as it is stored: `secret` is the value, sealed. */
export interface VariableRow {
  readonly id: number
  readonly key: string
  readonly secret: string
  readonly variable_type: string
  readonly environment_scope: string
  readonly description: string | null
  readonly protected: boolean
  readonly masked: boolean
  readonly hidden: boolean
  readonly raw: boolean
}

/** The place a value is sealed for. */
export const secretContext = 'ci_variables.secret'

type Shown = Omit<VariableRow, 'id' | 'secret'> & { readonly value: string | null }

/** A hidden value is never shown again. */
export function variable(row: VariableRow, cipher: Cipher): Shown {
  return { ...row, value: row.hidden ? null : cipher.open(row.secret, secretContext) }
}

/** Its value is at hand, since it was just set. */
export function variableWith(row: VariableRow, value: string): Shown {
  return { ...row, value: row.hidden ? null : value }
}
