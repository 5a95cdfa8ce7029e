import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchesPattern, patternsFor } from './match.ts'
import { parseCodeOwners, type OwnerName } from './parse.ts'

describe('reading', () => {
  test('sections, their headings and owners', () => {
    const { sections, problems } = parseCodeOwners(
      [
        '# who owns what',
        '* @default somebody@example.com @@maintainers',
        'path\\ with\\ space.md @a  # a remark for @b',
        '',
        '[Docs][2] @docs/team',
        'docs/',
        'README.md @reader',
        '^[Optional]',
        '*.go @gopher',
        '[DOCS]',
        '!secret.md',
        '^[optional] @late',
        '*.rs',
      ].join('\r\n'),
    )
    expect(problems).toEqual([])
    const account = (path: string) => ({ kind: 'account', path })
    expect(sections).toEqual([
      {
        ...{ name: null, optional: false, approvals: 1 },
        patterns: [
          {
            ...{ line: 2, pattern: '*', excludes: false },
            owners: [
              account('default'),
              { kind: 'email', address: 'somebody@example.com' },
              { kind: 'role', role: 'maintainer' },
            ],
          },
          { line: 3, pattern: 'path with space.md', excludes: false, owners: [account('a'), account('b')] },
        ],
      },
      {
        ...{ name: 'Docs', optional: false, approvals: 2 },
        patterns: [
          { line: 6, pattern: 'docs/', excludes: false, owners: [account('docs/team')] },
          { line: 7, pattern: 'README.md', excludes: false, owners: [account('reader')] },
          { line: 11, pattern: 'secret.md', excludes: true, owners: [] },
        ],
      },
      {
        ...{ name: 'Optional', optional: true, approvals: 1 },
        patterns: [
          { line: 9, pattern: '*.go', excludes: false, owners: [account('gopher')] },
          { line: 13, pattern: '*.rs', excludes: false, owners: [account('late')] },
        ],
      },
    ])
  })

  test.each([
    ['*.md', 'missing_entry_owner'],
    ['*.md nobody', 'invalid_entry_owner_format'],
    ['*.md @@guest @a', 'invalid_entry_owner_format'],
    ['[Open', 'invalid_section_format'],
    ['[] @a', 'missing_section_name'],
    ['[ ]', 'missing_section_name'],
    ['[A][0]', 'invalid_approval_requirement'],
    ['[A][many]', 'invalid_approval_requirement'],
    ['[A] team', 'invalid_section_owner_format'],
  ])('%s: %s', (source, code) => {
    expect(parseCodeOwners(`\n${source}`).problems).toContainEqual({ code, line: 2, source })
  })

  test('a section is required as soon as one heading says so, and asks for the most approvals', () => {
    const { sections } = parseCodeOwners('^[A][3]\nx @a\n[a][2]\ny @b')
    expect(sections).toMatchObject([{ name: 'A', optional: false, approvals: 3 }])
  })

  test('any text has an answer', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('[]^!#\\@ \n/*a.1')) }), (text) => {
        const { sections, problems } = parseCodeOwners(text)
        const lines = text.split('\n').length
        expect(sections.every(({ approvals }) => approvals >= 1)).toBe(true)
        expect(problems.every(({ line }) => line >= 1 && line <= lines)).toBe(true)
      }),
    )
  })

  test('what is written is what is read', () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,5}$/)
    const owner: fc.Arbitrary<OwnerName> = fc.oneof(
      fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => ({
        ...{ kind: 'account' as const, path: parts.join('/') },
      })),
      fc.tuple(word, word).map(([a, b]) => ({ kind: 'email' as const, address: `${a}@${b}.org` })),
      fc.constantFrom('developer' as const, 'maintainer' as const, 'owner' as const).map((role) => ({
        ...{ kind: 'role' as const, role },
      })),
    )
    const owners = fc.array(owner, { minLength: 1, maxLength: 3 })
    const line = fc.record({
      pattern: fc
        .array(fc.constantFrom('a', '*', '**', ' b', 'c.d'), { minLength: 1 })
        .map((p) => p.join('/')),
      excludes: fc.boolean(),
      owners,
    })
    const section = fc.record({
      ...{ optional: fc.boolean(), approvals: fc.integer({ min: 1, max: 9 }), defaults: fc.option(owners) },
      lines: fc.array(line, { minLength: 1, maxLength: 4 }),
    })
    fc.assert(
      fc.property(fc.array(section, { maxLength: 4 }), (wanted) => {
        const text = wanted
          .flatMap(({ optional, approvals, defaults, lines }, index) => [
            `${optional ? '^' : ''}[Section ${index}][${approvals}] ${(defaults ?? []).map(spell).join(' ')}`,
            ...lines.map(({ pattern, excludes, owners: named }, at) => {
              const mark = excludes ? '!' : ''
              const said = defaults !== null && at % 2 === 1 ? [] : named
              return `${mark}${pattern.replaceAll(' ', '\\ ')} ${excludes ? '' : said.map(spell).join(' ')}`
            }),
          ])
          .join('\n')
        const { sections, problems } = parseCodeOwners(text)
        expect(problems).toEqual([])
        expect(sections.map(({ patterns, ...rest }) => ({ ...rest, patterns: patterns.map(bare) }))).toEqual(
          wanted.map(({ optional, approvals, defaults, lines }, index) => ({
            ...{ name: `Section ${index}`, optional, approvals },
            patterns: lines.map(({ pattern, excludes, owners: named }, at) => ({
              ...{ pattern, excludes },
              owners: excludes ? [] : defaults !== null && at % 2 === 1 ? defaults : named,
            })),
          })),
        )
      }),
    )
  })

  const bare = ({ line: _, ...pattern }: { line: number }) => pattern
  const spell = (name: OwnerName): string => {
    if (name.kind === 'account') return `@${name.path}`
    return name.kind === 'role' ? `@@${name.role}` : name.address
  }
})

describe('which files a pattern is for', () => {
  test.each([
    ['*', 'any/file.md', true],
    ['/README.md', 'README.md', true],
    ['/README.md', 'docs/README.md', false],
    ['README.md', 'app/lib/README.md', true],
    ['internal/README.md', 'docs/internal/README.md', true],
    ['/docs/', 'docs/a/b.md', true],
    ['docs/', 'app/docs/b.md', true],
    ['/docs/', 'docs', false],
    ['/docs/*.md', 'docs/index.md', true],
    ['/docs/*.md', 'docs/api/index.md', false],
    ['/docs/*spec*', 'docs/qa_specs.rb', true],
    ['/docs/*/README.md', 'docs/api/README.md', true],
    ['/docs/*/README.md', 'docs/README.md', false],
    ['/docs/**/index.md', 'docs/index.md', true],
    ['/docs/**/index.md', 'docs/api/rest/index.md', true],
    ['/docs/**', 'docs/a', true],
    ['/docs/**', 'docs/a/b', false],
    ['file?.[ch]', 'src/file1.c', true],
    ['file?.[!ch]', 'src/file1.c', false],
    ['[a-c]x', 'bx', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['.hidden', 'a/.hidden', true],
    ['', 'a', false],
  ])('%s and %s: %s', (pattern, path, matches) => {
    expect(matchesPattern(pattern, path)).toBe(matches)
  })

  test('as a regular expression would have it', () => {
    const part = fc.string({ unit: fc.constantFrom(...Array.from('ab*?')), minLength: 1, maxLength: 4 })
    const name = fc.string({ unit: fc.constantFrom(...Array.from('ab')), minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(
        fc.array(fc.oneof(part, fc.constant('**')), { minLength: 1, maxLength: 4 }),
        fc.array(name, { minLength: 1, maxLength: 4 }),
        (parts, names) => {
          const body = parts.map((text, at) =>
            text === '**' && at < parts.length - 1
              ? '(?:[^/]+/)*'
              : text.replaceAll(/\*+/g, '[^/]*').replaceAll('?', '[^/]') + (at < parts.length - 1 ? '/' : ''),
          )
          const path = names.join('/')
          expect(matchesPattern(`/${parts.join('/')}`, path)).toBe(
            new RegExp(`^${body.join('')}$`).test(path),
          )
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('in each section the last one counts, and what is excluded stays so', () => {
    const file = parseCodeOwners(
      '* @all\n*.rb @ruby\n!/vendor/\n/vendor/own.rb @late\n[Docs]\n*.md @docs\n/README.md @read',
    )
    const owners = (path: string) => patternsFor(file, path).map(({ pattern }) => pattern.line)
    expect(owners('a/x.rb')).toEqual([2])
    expect(owners('README.md')).toEqual([1, 7])
    expect(owners('docs/x.md')).toEqual([1, 6])
    expect(owners('vendor/own.rb')).toEqual([])
  })

  test('no pattern takes long', () => {
    expect(matchesPattern(`/${'**/a*'.repeat(50)}b`, `${'aaaa/'.repeat(200)}c`)).toBe(false)
    expect(matchesPattern('a*'.repeat(200), 'a'.repeat(5000) + 'b/')).toBe(false)
  })
})
