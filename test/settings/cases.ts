import ts from 'typescript'

/*
 * What the tests of a suite prove of settings, by how they are written. A test proves a setting when it sets it over
 * the API, expects something, takes it back (the end of `during`, or another value), and expects something again.
 * Whether what it expects is the effect only a reader can judge; that there are both halves is seen here.
 */

export interface Case {
  readonly title: string
  readonly proves: readonly string[]
  /** Set, with one of the halves missing. */
  readonly halves: readonly string[]
}

/** How a call sets settings: for the time of some work, or until something else is said. */
type Setter = 'during' | 'set'

interface Step {
  readonly at: number
  readonly kind: 'set' | 'end' | 'expect'
  /** Of one that sets; undefined: all that were set before, to what they were. */
  readonly names?: ReadonlySet<string> | undefined
  /** Of one that ends: all that were set after it began are set back. */
  readonly since?: number
}

export function casesOf(text: string, names: ReadonlySet<string>): Case[] {
  const suite = new Suite(ts.createSourceFile('suite.ts', text, ts.ScriptTarget.Latest, true), names)
  return suite.tests.map((call) => suite.caseOf(call))
}

class Suite {
  readonly tests: readonly ts.CallExpression[]
  readonly #names: ReadonlySet<string>
  /** What the names of variables and functions stand for, and where. */
  readonly #declared = new Map<string, { readonly meaning: ts.Node; readonly scope: ts.Node }[]>()
  /** Functions that set settings, and functions that expect something. */
  readonly #setters = new Map<string, Setter>()
  readonly #judges = new Set<string>()

  constructor(source: ts.SourceFile, names: ReadonlySet<string>) {
    this.#names = names
    const nodes = [...within(source)]
    this.tests = nodes.filter((node) => ts.isCallExpression(node)).filter(isTest)
    for (const node of nodes) {
      if (ts.isFunctionDeclaration(node) && node.name !== undefined) this.#declare(node.name, node)
      if (ts.isVariableDeclaration(node)) {
        const { parent } = node.parent
        this.#declare(node.name, ts.isForOfStatement(parent) ? parent.expression : node.initializer)
      }
    }
    this.#setters.set('during', 'during').set('set', 'set')
    // Twice, as one may be made of another.
    for (const [name, found] of [...this.#declared, ...this.#declared]) {
      const inner = found.flatMap(({ meaning }) => (isFunction(meaning) ? [...within(meaning)] : []))
      const kinds = inner.map((node) => this.#setterOf(node)).filter((kind) => kind !== undefined)
      // One that sets twice takes back what it set.
      if (kinds.includes('during') || kinds.length > 1) this.#setters.set(name, 'during')
      else if (kinds.length === 1) this.#setters.set(name, 'set')
      if (inner.some((node) => this.#expects(node))) this.#judges.add(name)
    }
  }

  caseOf(call: ts.CallExpression): Case {
    const work = call.arguments.find((part) => isFunction(part))!
    const table = this.#namesOf(this.#reachable(tablesOf(call)))
    const parameters = new Set(work.parameters.flatMap((one) => textsOf(one.name)))
    const steps: Step[] = []
    for (const node of within(work)) {
      const setter = this.#setterOf(node)
      if (setter !== undefined && ts.isCallExpression(node) && !isDefinition(node, work)) {
        const given = node.arguments.filter((part) => setter === 'set' || !isFunction(part))
        const reached = this.#reachable(setter === 'set' ? [node.expression, ...given] : given)
        const names = this.#namesOf(reached)
        // A row of the table may be what is set, or hold the name of it.
        if (reached.some((inner) => ts.isIdentifier(inner) && parameters.has(inner.text))) {
          for (const name of table) names.add(name)
        }
        steps.push({ at: node.getStart(), kind: 'set', names: names.size === 0 ? undefined : names })
        if (setter === 'during') steps.push({ at: node.getEnd(), kind: 'end', since: node.getStart() })
      }
      if (this.#expects(node) && !isDefinition(node, work))
        steps.push({ at: node.getStart() + 0.5, kind: 'expect' })
    }
    const title = call.arguments[0]!.getText()
    return { title, ...judged(steps.toSorted((a, b) => a.at - b.at)) }
  }

  #declare(name: ts.BindingName, meaning: ts.Node | undefined): void {
    if (meaning === undefined) return
    let scope: ts.Node = name
    do scope = scope.parent
    while (!ts.isBlock(scope) && !ts.isForOfStatement(scope) && !ts.isSourceFile(scope))
    for (const text of textsOf(name)) {
      this.#declared.set(text, [...(this.#declared.get(text) ?? []), { meaning, scope }])
    }
  }

  /** What a name stands for where it is used: the innermost declaration. */
  #meaningOf(use: ts.Identifier): ts.Node | undefined {
    const around = (this.#declared.get(use.text) ?? []).filter(
      ({ scope }) => scope.pos <= use.pos && use.end <= scope.end,
    )
    return around.toSorted((a, b) => b.scope.pos - a.scope.pos)[0]?.meaning
  }

  #setterOf(node: ts.Node): Setter | undefined {
    if (!ts.isCallExpression(node)) return undefined
    const { expression, arguments: given } = node
    if (ts.isIdentifier(expression)) return this.#setters.get(expression.text)
    const isPut = ts.isPropertyAccessExpression(expression) && expression.name.text === 'put'
    return isPut && given[0]?.getText().includes('/application/settings') === true ? 'set' : undefined
  }

  #expects(node: ts.Node): boolean {
    if (!ts.isCallExpression(node)) return false
    const { expression } = node
    return ts.isIdentifier(expression)
      ? /^expect/.test(expression.text) || this.#judges.has(expression.text)
      : expression.getText() === 'expect.poll' || expression.getText() === 'vi.waitFor'
  }

  /** All that pieces of a suite say, by themselves and through what they call by a name. */
  #reachable(pieces: readonly ts.Node[]): ts.Node[] {
    const seen = new Set<ts.Node>()
    const open = [...pieces]
    for (let piece = open.pop(); piece !== undefined; piece = open.pop()) {
      for (const node of within(piece)) {
        if (seen.has(node)) break
        seen.add(node)
        const meaning = ts.isIdentifier(node) && !isMember(node) ? this.#meaningOf(node) : undefined
        if (meaning !== undefined) open.push(meaning)
      }
    }
    return [...seen]
  }

  #namesOf(nodes: readonly ts.Node[]): Set<string> {
    const texts = nodes.filter((node) => ts.isIdentifier(node) || ts.isStringLiteralLike(node))
    return new Set(texts.flatMap(({ text }) => this.#settingsOf(text)))
  }

  /** A throttle is set as a family, of which a table names what follows `throttle_`. */
  #settingsOf(text: string): string[] {
    const family = `throttle_${text.replace(/^throttle_/, '').replace(/_enabled$/, '')}`
    return [
      text,
      ...['enabled', 'period_in_seconds', 'requests_per_period'].map((last) => `${family}_${last}`),
    ].filter((name) => this.#names.has(name))
  }
}

/** A setting goes through four: set, seen, taken back, seen again. */
function judged(steps: readonly Step[]): Pick<Case, 'proves' | 'halves'> {
  const state = new Map<string, number>()
  for (const [index, { kind, names, since }] of steps.entries()) {
    const ended = steps.slice(0, index).filter(({ at }) => since !== undefined && at >= since)
    const meant = since === undefined ? names : new Set(ended.flatMap((step) => [...(step.names ?? [])]))
    for (const name of meant ?? [...state.keys()]) {
      const before = state.get(name) ?? 0
      if (kind === 'expect' && (before === 1 || before === 3)) state.set(name, before + 1)
      if (kind !== 'expect' && (before === 0 || before === 2)) state.set(name, before + 1)
    }
  }
  const inState = (wanted: (at: number) => boolean) =>
    [...state].filter(([, at]) => wanted(at)).map(([name]) => name)
  return { proves: inState((at) => at >= 4), halves: inState((at) => at < 4) }
}

function* within(node: ts.Node): Iterable<ts.Node> {
  yield node
  const children: ts.Node[] = []
  ts.forEachChild(node, (child) => void children.push(child))
  for (const child of children) yield* within(child)
}

function isFunction(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isFunctionDeclaration(node)
}

/** `test(...)`, and `test.each(...)(...)`. */
function isTest(call: ts.CallExpression): boolean {
  return /^(?:test|it)\b/.test(call.expression.getText()) && call.arguments.some(isFunction)
}

/** The tables of a test and of what it stands in. */
function tablesOf(call: ts.CallExpression): ts.Node[] {
  const tables: ts.Node[] = []
  for (let node: ts.Node = call; !ts.isSourceFile(node); node = node.parent) {
    if (ts.isCallExpression(node) && ts.isCallExpression(node.expression))
      tables.push(...node.expression.arguments)
  }
  return tables
}

/** Within a function that a test gives a name: what it does is done where it is called. */
function isDefinition(node: ts.Node, work: ts.Node): boolean {
  for (let at = node; at !== work; at = at.parent) {
    if (ts.isFunctionDeclaration(at) || (isFunction(at) && ts.isVariableDeclaration(at.parent))) return true
  }
  return false
}

/** `b` in `a.b`, or in `{ b: 1 }`. */
function isMember(node: ts.Identifier): boolean {
  const { parent } = node
  return (
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node)
  )
}

function textsOf(node: ts.Node): string[] {
  return [...within(node)].filter((inner) => ts.isIdentifier(inner)).map(({ text }) => text)
}
