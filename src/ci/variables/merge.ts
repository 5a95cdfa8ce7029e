/** Lists from low to high precedence made one; the last of a key wins and stands where the first of it stood. */
export function mergeVariables<V extends { key: string }>(...lists: readonly (readonly V[])[]): V[] {
  const merged = new Map<string, V>()
  for (const list of lists) for (const variable of list) merged.set(variable.key, variable)
  return [...merged.values()]
}
