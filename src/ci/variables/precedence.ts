/** Where the variables of a job come from, low to high (completions, 2.7). */
const layers = ['predefined', 'file', 'dotenv', 'stored', 'given', 'persisted'] as const

/**
 * `file`: of the configuration, those of the matching rule last; `stored`: of the instance, the groups from the top one
 * down and the project; `given`: to the pipeline, then to the job; `persisted`: what nobody takes away from a job.
 */
export type VariableLayers<V> = Readonly<Partial<Record<(typeof layers)[number], readonly V[]>>>

/** One list; the last variable of a key is the one that counts. */
export function byPrecedence<V>(of: VariableLayers<V>): V[] {
  return layers.flatMap((layer) => of[layer] ?? [])
}
