import { matchesWildcard } from '../../kernel/lib/wildcard.ts'
import type { FlagRow, StrategyRow } from './entities.ts'

/** What programs are told of a flag, in the words of Unleash's protocol. */
export interface ClientFeature {
  readonly name: string
  readonly description: string
  readonly enabled: boolean
  readonly strategies: readonly { readonly name: string; readonly parameters: object }[]
}

/**
 * The flags that a strategy switches on in an environment. Others are left out: to a program a flag that is on and has
 * no strategies is on for everybody, and one that it does not know is off.
 */
export function clientFeatures(flags: readonly FlagRow[], environment: string): ClientFeature[] {
  return flags.flatMap(({ name, description, active, strategies }) => {
    const here = strategies.filter(({ scopes }) =>
      scopes.some(({ environment_scope: scope }) => matchesWildcard(scope, environment)),
    )
    if (here.length === 0) return []
    return [{ name, description: description ?? '', enabled: active, strategies: here.map(clientStrategy) }]
  })
}

/** Programs know nothing of lists: to them it is one of users. */
function clientStrategy({
  name,
  parameters,
  user_list: list,
}: StrategyRow): ClientFeature['strategies'][number] {
  return list === null
    ? { name, parameters }
    : { name: 'userWithId', parameters: { userIds: list.user_xids } }
}
