import { PathMatching } from '../compile/paths.ts'
import { firstMatching, otherTreeKey, type RuleFacts } from '../compile/rules.ts'
import { includeText } from '../messages.ts'
import type { Rule } from '../entries/rules.ts'
import { ask, type Asking } from './asking.ts'
import type { Surroundings } from './context.ts'

/** Remembers what rules asked for, for all includes of one configuration. */
export class RuleAnswers {
  readonly #known = new Map<string, unknown>()
  readonly #paths = new PathMatching()

  #tree(project: string, ref: string | null, anonymous: boolean): Asking<string[] | null> {
    return this.#once(['tree', project, ref, anonymous], ask('tree', { project, ref, anonymous }))
  }

  #changes(compareTo: string | null) {
    return this.#once(['changes', compareTo], ask('changes', { compareTo }))
  }

  /** Whether the rules of an include let it in. Throws a ConfigError for clauses that cannot be judged. */
  *admit(rules: readonly Rule[], around: Surroundings): Asking<boolean> {
    const { variables } = around
    const context: RuleFacts = { changedPaths: null, changedPathsSince: {}, treePaths: [], otherTrees: {} }
    for (const { changes, exists } of rules) {
      if (changes?.compareTo === null) {
        const answer = yield* this.#changes(null)
        context.changedPaths = 'paths' in answer ? answer.paths : null
      } else if (changes) {
        const ref = variables.expand(changes.compareTo)
        const answer = yield* this.#changes(ref)
        if ('paths' in answer) context.changedPathsSince![ref] = answer.paths ?? []
      }
      if (exists?.project === null) context.treePaths = yield* this.#ownTree(around)
      else if (exists) {
        const [project, ref] = [exists.project, exists.ref].map((text) => text && variables.expand(text))
        for (const at of ref == null ? [null] : [ref, null]) {
          const tree = yield* this.#tree(project!, at, around.anonymous)
          if (tree === null) continue
          context.otherTrees![otherTreeKey(project!, at)] = tree
          break
        }
      }
    }
    const match = firstMatching(rules, includeText.rule, variables, { context, paths: this.#paths })
    return match !== null && match.rule.when !== 'never'
  }

  *#ownTree({ origin, anonymous }: Surroundings): Asking<string[]> {
    return origin === null ? [] : ((yield* this.#tree(origin.project, origin.sha, anonymous)) ?? [])
  }

  *#once<T>(key: unknown[], asking: Asking<T>): Asking<T> {
    const id = JSON.stringify(key)
    if (!this.#known.has(id)) this.#known.set(id, yield* asking)
    return this.#known.get(id) as T
  }
}
