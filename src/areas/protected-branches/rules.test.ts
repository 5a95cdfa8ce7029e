import { describe, expect, test } from 'vitest'
import { entryFor } from '../../access/index.ts'
import { protectionOf, refusal, type BranchRule, type BranchUpdate, type Entry } from './rules.ts'

let id = 0
const entry = (action: Entry['action'], accessLevel: number): Entry => ({
  id: (id += 1),
  action,
  ...entryFor({ accessLevel }),
})
const rule = (name: string, more: Partial<BranchRule> = {}): BranchRule => ({
  id: (id += 1),
  name,
  inherited: false,
  allowForcePush: false,
  codeOwnerApprovalRequired: false,
  entries: [entry('push', 40), entry('merge', 40)],
  ...more,
})

describe('which branches a rule is for', () => {
  test.each([
    ['main', 'main', true],
    ['main', 'Main', false],
    ['main', 'main2', false],
    ['*', 'anything/at/all', true],
    ['release/*', 'release/1.0', true],
    ['release/*', 'release/1/0', true],
    ['release/*', 'release/', true],
    ['release/*', 'release', false],
    ['*-stable', '1-stable', true],
    ['*-stable', '1-stable-2', false],
    ['a*b*c', 'a1b2c', true],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    ['feature.x', 'featureax', false],
    ['rel[0-9]', 'rel1', false],
  ])('%s and %s: %s', (name, branch, matches) => {
    expect(protectionOf(branch, [rule(name)]) !== undefined).toBe(matches)
  })
})

describe('rules together', () => {
  test('entries of all matching rules count, an exact name overrides no wildcard', () => {
    const found = protectionOf('main', [
      rule('main', { entries: [entry('push', 0), entry('merge', 40)] }),
      rule('*', { entries: [entry('push', 30)] }),
      rule('other', { entries: [entry('push', 60)] }),
    ])
    expect(found?.push.map(({ accessLevel }) => accessLevel)).toEqual([0, 30])
    expect(found?.merge.map(({ accessLevel }) => accessLevel)).toEqual([40])
  })

  test.each([
    [[false], false],
    [[false, true], true],
    [[true, false], true],
  ])('force pushes are allowed by %j: %s', (allowed, expected) => {
    const rules = allowed.map((allowForcePush) => rule('*', { allowForcePush }))
    expect(protectionOf('main', rules)?.allowForcePush).toBe(expected)
  })
})

describe('refusals, in their order', () => {
  const nobody = { push: false, merge: false, deleteProtected: false }
  const update = (given: Partial<BranchUpdate> & { forced?: boolean; based?: boolean }): BranchUpdate => ({
    branch: 'main',
    kind: 'update',
    isDefault: false,
    isForced: () => Promise.resolve(given.forced ?? false),
    onProtectedBranch: () => Promise.resolve(given.based ?? false),

    isMergeResult: () => Promise.resolve(false),
    via: 'git',
    protection: protectionOf('main', [rule('main')]),
    may: nobody,
    ...given,
  })
  const sha1 = 'a'.repeat(40)
  const free = { protection: undefined }
  const open = { protection: protectionOf('main', [rule('main', { allowForcePush: true })]) }

  test.each<[string, Parameters<typeof update>[0], string | undefined]>([
    [
      'default branch deleted',
      { kind: 'delete', isDefault: true, ...free },
      'The default branch of a project cannot be deleted.',
    ],
    [
      'default branch deleted by all powers',
      {
        kind: 'delete',
        isDefault: true,
        via: 'web',
        may: { push: true, merge: true, deleteProtected: true },
      },
      'The default branch of a project cannot be deleted.',
    ],
    [
      'named like an id',
      { kind: 'create', branch: sha1, ...free },
      'You cannot create a branch with a SHA-1 or SHA-256 branch name.',
    ],
    [
      'named like a long id',
      { kind: 'create', branch: 'AB'.repeat(32), ...free },
      'You cannot create a branch with a SHA-1 or SHA-256 branch name.',
    ],
    ['named like an id, deleted', { kind: 'delete', branch: sha1, ...free }, undefined],
    [
      'beginning like an id',
      { kind: 'create', branch: `${sha1}/x`, ...free },
      'You cannot create a branch with a SHA-1 or SHA-256 branch name.',
    ],
    ['beginning nearly like an id', { kind: 'create', branch: `${sha1}-x`, ...free }, undefined],
    ...['HEAD', '-x', 'refs/heads/x', 'refs/remotes/origin/x'].map(
      (branch): [string, Parameters<typeof update>[0], string] => [
        `called ${branch}`,
        { kind: 'create', branch, ...free },
        'You cannot create a branch with an invalid name.',
      ],
    ),
    ['called HEAD, deleted', { kind: 'delete', branch: 'HEAD', ...free }, undefined],
    ['called HEADS', { kind: 'create', branch: 'HEADS', ...free }, undefined],
    ['nearly like an id', { kind: 'create', branch: `${sha1}a`, ...free }, undefined],
    ['not protected', { ...free, forced: true }, undefined],
    [
      'forced',
      { forced: true, may: { ...nobody, push: true } },
      'You are not allowed to force push code to a protected branch on this project.',
    ],
    ['forced where allowed', { forced: true, ...open, may: { ...nobody, push: true } }, undefined],
    [
      'forced where allowed, without right',
      { forced: true, ...open },
      'You are not allowed to push code to protected branches on this project.',
    ],
    ['created by who may push', { kind: 'create', may: { ...nobody, push: true } }, undefined],
    [
      'created without right',
      { kind: 'create' },
      'You are not allowed to create protected branches on this project.',
    ],
    [
      'created by who may merge, of new commits',
      { kind: 'create', may: { ...nobody, merge: true } },
      'You can only use an existing protected branch ref as the basis of a new protected branch.',
    ],
    [
      'created by who may merge, over git',
      { kind: 'create', based: true, may: { ...nobody, merge: true } },
      'You can only create protected branches using the web interface and API.',
    ],
    [
      'created by who may merge, over the API',
      { kind: 'create', based: true, via: 'web', may: { ...nobody, merge: true } },
      undefined,
    ],
    [
      'deleted without right',
      { kind: 'delete', may: { ...nobody, push: true } },
      'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.',
    ],
    [
      'deleted over git',
      { kind: 'delete', may: { ...nobody, deleteProtected: true } },
      'You can only delete protected branches using the web interface.',
    ],
    [
      'deleted over the API',
      { kind: 'delete', via: 'web', may: { ...nobody, deleteProtected: true } },
      undefined,
    ],
    [
      'moved without right',
      { may: { ...nobody, merge: true } },
      'You are not allowed to push code to protected branches on this project.',
    ],
    ['moved with right', { may: { ...nobody, push: true } }, undefined],
  ])('%s', async (_, given, message) => {
    expect(await refusal(update(given))).toBe(message)
  })
})
