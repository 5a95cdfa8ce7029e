import type { ScopedVariable } from '../types.ts'

/** Whether a scope reaches an environment: `*` stands for any text, all else is literal, letter case included. */
export function scopeMatches(scope: string, environment: string): boolean {
  const [head = '', ...rest] = scope.split('*')
  const tail = rest.pop()
  if (tail === undefined) return scope === environment
  if (!environment.startsWith(head)) return false
  let at = head.length
  for (const part of rest) {
    const found = environment.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return environment.length - tail.length >= at && environment.endsWith(tail)
}

/** Exact scopes above partial ones, among these the one with most literal characters, `*` at the bottom. */
export function scopeSpecificity(scope: string): number {
  return scope.includes('*') ? scope.replaceAll('*', '').length : Number.MAX_SAFE_INTEGER
}

/**
 * Orders the variables of one owner (a project, a group) low to high, so that the last of a key that matches is the
 * one to take. Given in order of id; of two equally specific ones the lower id wins.
 */
export function orderBySpecificity<V extends ScopedVariable>(variables: readonly V[]): V[] {
  const rank = (variable: V) => scopeSpecificity(variable.environmentScope ?? '*')
  return [...variables].reverse().sort((a, b) => rank(a) - rank(b))
}

/** Those that a job with this environment gets, in the order given; without an environment only scope `*` counts. */
export function variablesFor<V extends ScopedVariable>(
  environment: string | null,
  variables: readonly V[],
): V[] {
  return variables.filter(({ environmentScope: scope = '*' }) =>
    environment === null ? scope === '*' : scopeMatches(scope, environment),
  )
}
