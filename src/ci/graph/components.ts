/**
 * Strongly connected components (Tarjan), what is pointed at first: walking the result visits every node after all it
 * depends on. A component of several nodes is a circle, in the order it was walked. Takes graphs of any depth.
 */
export function components<N>(nodes: Iterable<N>, pointsTo: (node: N) => Iterable<N>): N[][] {
  const found: N[][] = []
  const number = new Map<N, number>()
  const lowest = new Map<N, number>()
  const open: N[] = []
  const isOpen = new Set<N>()

  for (const start of nodes) {
    if (number.has(start)) continue
    const path: { node: N; rest: Iterator<N> }[] = []
    const enter = (node: N) => {
      number.set(node, number.size)
      lowest.set(node, number.size - 1)
      open.push(node)
      isOpen.add(node)
      path.push({ node, rest: pointsTo(node)[Symbol.iterator]() })
    }
    const lower = (node: N, to: number) => lowest.set(node, Math.min(lowest.get(node)!, to))

    enter(start)
    while (path.length > 0) {
      const { node, rest } = path.at(-1)!
      const next = rest.next()
      if (next.done !== true) {
        if (!number.has(next.value)) enter(next.value)
        else if (isOpen.has(next.value)) lower(node, number.get(next.value)!)
        continue
      }
      path.pop()
      const parent = path.at(-1)
      if (parent !== undefined) lower(parent.node, lowest.get(node)!)
      if (lowest.get(node) !== number.get(node)) continue
      const component = open.splice(open.lastIndexOf(node))
      for (const member of component) isOpen.delete(member)
      found.push(component)
    }
  }
  return found
}
