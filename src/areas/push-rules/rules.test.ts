import { describe, expect, test } from 'vitest'
import type { Commit, Oid } from '../../git/index.ts'
import { Checker, faultsOf, type PushRule, type Pusher } from './rules.ts'

const nothing: PushRule = {
  commit_message_regex: '',
  commit_message_negative_regex: '',
  branch_name_regex: '',
  author_email_regex: '',
  file_name_regex: '',
  max_file_size: 0,
  deny_delete_tag: false,
  member_check: false,
  prevent_secrets: false,
  commit_committer_check: false,
  commit_committer_name_check: false,
  reject_unsigned_commits: false,
  reject_non_dco_commits: false,
}
const checker = (rule: Partial<PushRule>) => new Checker({ ...nothing, ...rule })
const ada = { name: 'Ada', email: 'Ada@example.com', date: new Date(0), offset: 0 }
const commit = (fields: Partial<Commit> = {}): Commit => ({
  oid: 'a'.repeat(40) as Oid,
  tree: 'b'.repeat(40) as Oid,
  parents: [],
  author: ada,
  committer: ada,
  title: 'Fix it',
  message: 'Fix it\n\nSee ABC-1\n',
  signature: undefined,
  ...fields,
})
const byAda: Pusher = {
  via: 'git',
  pusher: { name: 'Ada', emails: new Set(['ada@example.com']) },
  known: new Set(['ada@example.com']),
}
const other = { ...ada, name: 'Bob', email: 'bob@example.org' }

describe('commits', () => {
  test.each<[string, Partial<PushRule>, Partial<Commit>, string | undefined]>([
    ['no rule', {}, {}, undefined],
    ['a message that matches', { commit_message_regex: '^See [A-Z]+-\\d+$' }, {}, undefined],
    [
      'a message that does not',
      { commit_message_regex: 'XYZ' },
      {},
      "Commit message does not follow the pattern 'XYZ'",
    ],
    [
      'a forbidden message',
      { commit_message_negative_regex: '^See' },
      {},
      "Commit message contains the forbidden pattern '^See'",
    ],
    [
      'an author of another domain',
      { author_email_regex: '@example\\.com$' },
      { author: other },
      "Author's email 'bob@example.org' does not follow the pattern '@example\\.com$'",
    ],
    [
      'a committer of another domain',
      { author_email_regex: '@example\\.com$' },
      { committer: other },
      "Committer's email 'bob@example.org' does not follow the pattern '@example\\.com$'",
    ],
    ['own commits', { commit_committer_check: true }, { author: other }, undefined],
    [
      'commits of somebody else',
      { commit_committer_check: true },
      { committer: other },
      "You cannot push commits for 'bob@example.org'. You can only push commits if the committer email is one of your own verified emails.",
    ],
    [
      'another name',
      { commit_committer_name_check: true },
      { author: other },
      'Your git username is inconsistent with your account name',
    ],
    ['a signature', { reject_unsigned_commits: true }, { signature: 'x' }, undefined],
    ['no signature', { reject_unsigned_commits: true }, {}, 'Commit must be signed with a GPG key'],
    [
      'a sign-off',
      { reject_non_dco_commits: true },
      { message: 'Fix\n\nSigned-off-by: Ada <ada@example.com>\n' },
      undefined,
    ],
    ['no sign-off', { reject_non_dco_commits: true }, {}, 'Commit message must contain a DCO signoff'],
    [
      'a stranger',
      { member_check: true },
      { author: other },
      "Author 'bob@example.org' is not a member of team",
    ],
    [
      'a strange committer',
      { member_check: true },
      { committer: other },
      "Committer 'bob@example.org' is not a member of team",
    ],
    ['users', { member_check: true }, {}, undefined],
  ])('%s', (_, rule, fields, message) => {
    expect(checker(rule).commit(commit(fields), byAda)).toBe(message)
  })

  test('what the service commits itself is neither signed nor compared with who pushes', () => {
    const rule = checker({ commit_committer_check: true, reject_unsigned_commits: true })
    expect(rule.commit(commit({ committer: other }), { ...byAda, via: 'web' })).toBeUndefined()
  })
})

test.each([
  ['feature/1', false, "Branch name 'feature/1' does not follow the pattern '^fix-'"],
  ['fix-1', false, undefined],
  ['main', true, undefined],
])('branch %s', (name, isDefault, message) => {
  expect(checker({ branch_name_regex: '^fix-' }).branch(name, isDefault)).toBe(message)
})

test.each([
  ['id_rsa', true],
  ['.id_rsa', true],
  ['keys/id_ed25519', true],
  ['.ssh/personal_rsa', true],
  ['config/server_dsa', true],
  ['.aws/credentials', true],
  ['homefolder/aws/credentials', true],
  ['a/b.pem', true],
  ['server.key', true],
  ['.bash_history', true],
  ['x.history', true],
  ['id_rsa.pub', false],
  ['keys.md', false],
  ['src/history.ts', false],
  ['grid_rsa', false],
])('secrets: %s %s', (path, secret) => {
  const told = checker({ prevent_secrets: true }).newFile(path)
  expect(told !== undefined).toBe(secret)
})

test('names and sizes of files', () => {
  const rule = checker({ file_name_regex: '(jar|exe)$', max_file_size: 2 })
  expect(rule.newFile('a/b.exe')).toBe('File name a/b.exe was prohibited by the pattern "(jar|exe)$".')
  expect(rule.newFile('a/b.ts')).toBeUndefined()
  expect(rule.fileSize('a', 2 * 1024 * 1024)).toBeUndefined()
  expect(rule.fileSize('a', 2 * 1024 * 1024 + 1)).toBe(
    'File a is larger than the allowed size of 2 MiB. Use Git LFS to manage this file.',
  )
})

test('faults', () => {
  expect(
    faultsOf({ branch_name_regex: '(?=x)', file_name_regex: 'a'.repeat(512), max_file_size: -1 }),
  ).toEqual({
    branch_name_regex: ['not valid RE2 syntax'],
    file_name_regex: ['is too long (maximum is 511 characters)'],
    max_file_size: ['must be greater than or equal to 0'],
  })
  expect(faultsOf({ commit_message_regex: '^a$' })).toEqual({})
})
