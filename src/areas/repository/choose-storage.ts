/**
 * A storage for a repository, by the weights of the settings: a storage of weight 50 is taken half as often as one of
 * 100. Where none of the storages has a weight it is `default`. `random`: from 0 up to, and without, 1.
 */
export function chooseStorage(
  weights: Readonly<Record<string, number>>,
  storages: readonly string[],
  random: number = Math.random(),
): string {
  const weighted = storages.map((name) => ({ name, weight: Math.max(0, weights[name] ?? 0) }))
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0)
  let left = random * total
  for (const { name, weight } of weighted) {
    if (weight === 0) continue
    left -= weight
    if (left < 0) return name
  }
  return 'default'
}
