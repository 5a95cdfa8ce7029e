import { compilePattern, type Pattern } from '../../ci/text/regex.ts'
import type { Commit } from '../../git/index.ts'

/** What must hold of commits, names and files that come into a project. An empty pattern asks nothing. */
export interface PushRule {
  readonly commit_message_regex: string
  readonly commit_message_negative_regex: string
  readonly branch_name_regex: string
  readonly author_email_regex: string
  readonly file_name_regex: string
  /** Megabytes; 0 is any size. */
  readonly max_file_size: number
  readonly deny_delete_tag: boolean
  readonly member_check: boolean
  readonly prevent_secrets: boolean
  readonly commit_committer_check: boolean
  readonly commit_committer_name_check: boolean
  readonly reject_unsigned_commits: boolean
  readonly reject_non_dco_commits: boolean
}

export const patternNames = [
  'commit_message_regex',
  'commit_message_negative_regex',
  'branch_name_regex',
  'author_email_regex',
  'file_name_regex',
] as const

export const longestPattern = 511
export const megabyte = 1024 * 1024

/** What is wrong with the values of a rule, by field. */
export function faultsOf(rule: Partial<PushRule>): Record<string, string[]> {
  const faults: Record<string, string[]> = {}
  for (const name of patternNames) {
    const source = rule[name] ?? ''
    if (source.length > longestPattern) {
      faults[name] = [`is too long (maximum is ${longestPattern} characters)`]
    } else if (source !== '' && compiled(name, source) === null) {
      faults[name] = ['not valid RE2 syntax']
    }
  }
  if ((rule.max_file_size ?? 0) < 0) faults['max_file_size'] = ['must be greater than or equal to 0']
  return faults
}

/** Lines of a commit message are lines to its patterns too. */
function compiled(name: (typeof patternNames)[number], source: string): Pattern | null {
  return compilePattern(source, name.startsWith('commit_message') ? 'm' : '')
}

/** A rule with its patterns ready. */
export class Checker {
  readonly rule: PushRule
  readonly #patterns = new Map<string, Pattern>()

  constructor(rule: PushRule) {
    this.rule = rule
    for (const name of patternNames) {
      const pattern = rule[name] === '' ? null : compiled(name, rule[name])
      if (pattern !== null) this.#patterns.set(name, pattern)
    }
  }

  get looksAtCommits(): boolean {
    const { rule } = this
    return (
      this.looksAtPeople ||
      rule.reject_unsigned_commits ||
      rule.reject_non_dco_commits ||
      ['commit_message_regex', 'commit_message_negative_regex', 'author_email_regex'].some((name) =>
        this.#patterns.has(name),
      )
    )
  }

  /** Whether it must be known which addresses belong to users. */
  get looksAtPeople(): boolean {
    const { rule } = this
    return rule.member_check || rule.commit_committer_check || rule.commit_committer_name_check
  }

  get looksAtFiles(): boolean {
    const { rule } = this
    return rule.prevent_secrets || rule.max_file_size > 0 || this.#patterns.has('file_name_regex')
  }

  /** Existing branches too: a name that is against the rule takes nothing in any more. */
  branch(name: string, isDefault: boolean): string | undefined {
    const pattern = this.#patterns.get('branch_name_regex')
    if (isDefault || pattern === undefined || pattern.test(name)) return undefined
    return `Branch name '${name}' does not follow the pattern '${this.rule.branch_name_regex}'`
  }

  /** Tags are removed through the pages and the API by whoever may. */
  tagDeletion(via: 'git' | 'web'): string | undefined {
    return this.rule.deny_delete_tag && via === 'git' ? 'You cannot delete a tag' : undefined
  }

  commit(commit: Commit, { via, pusher, known }: Pusher): string | undefined {
    const { rule } = this
    const { message, author, committer } = commit
    if (this.#misses('commit_message_regex', message)) {
      return `Commit message does not follow the pattern '${rule.commit_message_regex}'`
    }
    if (this.#patterns.get('commit_message_negative_regex')?.test(message) === true) {
      return `Commit message contains the forbidden pattern '${rule.commit_message_negative_regex}'`
    }
    if (rule.reject_non_dco_commits && !/^Signed-off-by: .+ <[^<>\s]+@[^<>\s]+>\s*$/m.test(message)) {
      return 'Commit message must contain a DCO signoff'
    }
    if (this.#misses('author_email_regex', author.email)) {
      return `Author's email '${author.email}' does not follow the pattern '${rule.author_email_regex}'`
    }
    if (this.#misses('author_email_regex', committer.email)) {
      return `Committer's email '${committer.email}' does not follow the pattern '${rule.author_email_regex}'`
    }
    // What the service commits itself bears its caller's name, and nobody's signature.
    if (via === 'git') {
      if (rule.commit_committer_check && !pusher.emails.has(committer.email.toLowerCase())) {
        return `You cannot push commits for '${committer.email}'. You can only push commits if the committer email is one of your own verified emails.`
      }
      if (rule.reject_unsigned_commits && commit.signature === undefined) {
        return 'Commit must be signed with a GPG key'
      }
    }
    if (rule.commit_committer_name_check && author.name !== pusher.name) {
      return 'Your git username is inconsistent with your account name'
    }
    if (rule.member_check) {
      if (!known.has(author.email.toLowerCase())) return `Author '${author.email}' is not a member of team`
      if (!known.has(committer.email.toLowerCase())) {
        return `Committer '${committer.email}' is not a member of team`
      }
    }
    return undefined
  }

  /** Of a file that a commit brings under a name that was not there before. */
  newFile(path: string): string | undefined {
    const { rule } = this
    if (rule.prevent_secrets) {
      const secret = secretNames.find((pattern) => pattern.test(path))
      if (secret !== undefined) return prohibited(path, secret.source)
    }
    const pattern = this.#patterns.get('file_name_regex')
    return pattern?.test(path) === true ? prohibited(path, rule.file_name_regex) : undefined
  }

  /** `size` in bytes. */
  fileSize(path: string, size: number): string | undefined {
    const most = this.rule.max_file_size
    if (most === 0 || size <= most * megabyte) return undefined
    return `File ${path} is larger than the allowed size of ${most} MiB. Use Git LFS to manage this file.`
  }

  #misses(name: (typeof patternNames)[number], text: string): boolean {
    return this.#patterns.get(name)?.test(text) === false
  }
}

/** Who pushes, and whose addresses are known. Addresses in lower case. */
export interface Pusher {
  readonly via: 'git' | 'web'
  readonly pusher: { readonly name: string; readonly emails: ReadonlySet<string> }
  /** Addresses that belong to users. */
  readonly known: ReadonlySet<string>
}

function prohibited(path: string, pattern: string): string {
  return `File name ${path} was prohibited by the pattern "${pattern}".`
}

/** Names that files with secrets usually have. */
const secretNames: readonly RegExp[] = [
  /aws\/credentials$/,
  /(?:ssh|config)\/(?:personal|server)_(?:rsa|dsa|ed25519|ecdsa|ecdsa_sk|ed25519_sk)$/,
  /(?:^|\/)\.?id_(?:rsa|dsa|ed25519|ecdsa|ecdsa_sk|ed25519_sk)$/,
  /\.(?:pem|key)$/,
  /[._]history$/,
]
