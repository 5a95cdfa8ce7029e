/** What somebody types behind the name of a slash command. */
export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'issue new'; readonly title: string; readonly description: string }
  | { readonly name: 'issue show' | 'issue close'; readonly iid: number }
  | { readonly name: 'issue search'; readonly query: string }
  | { readonly name: 'issue move'; readonly iid: number; readonly to: string }
  | { readonly name: 'issue comment'; readonly iid: number; readonly body: string }
  | { readonly name: 'deploy'; readonly from: string; readonly to: string }
  | { readonly name: 'run'; readonly job: string; readonly input: string }

/** Each with how it is typed, and how that is told. */
const forms: readonly (readonly [
  pattern: RegExp,
  make: (found: readonly string[]) => Command,
  usage?: string,
])[] = [
  [/^help$/, () => ({ name: 'help' }), 'help'],
  [
    /^issue (?:new|create) ([^\r\n]+?)(?:[\r\n]+([^]*))?$/,
    ([title = '', description = '']) => ({ name: 'issue new', title: title.trim(), description }),
    'issue new <title> Shift+Enter <description>',
  ],
  [/^issue show #?(\d{1,9})$/, ([iid]) => ({ name: 'issue show', iid: Number(iid) }), 'issue show <id>'],
  [/^issue close #?(\d{1,9})$/, ([iid]) => ({ name: 'issue close', iid: Number(iid) }), 'issue close <id>'],
  [/^issue search ([^]+)$/, ([query = '']) => ({ name: 'issue search', query }), 'issue search <query>'],
  [
    /^issue move #?(\d{1,9})(?: to)? (\S+)$/,
    ([iid, to = '']) => ({ name: 'issue move', iid: Number(iid), to }),
    'issue move <id> to <project>',
  ],
  [
    /^issue comment #?(\d{1,9})\s+([^]+)$/,
    ([iid, body = '']) => ({ name: 'issue comment', iid: Number(iid), body }),
    'issue comment <id> Shift+Enter <comment>',
  ],
  [
    /^deploy (\S+)(?: to)? (\S+)$/,
    ([from = '', to = '']) => ({ name: 'deploy', from, to }),
    'deploy <from> to <to>',
  ],
  [
    /^run (\S+)(?:\s+([^]*))?$/,
    ([job = '', input = '']) => ({ name: 'run', job, input }),
    'run <job name> <arguments>',
  ],
]

/** How each command is typed. */
export const usages: readonly string[] = forms.flatMap(([, , usage]) => usage ?? [])

/** Undefined where it is none. */
export function parseCommand(text: string): Command | undefined {
  const trimmed = text.trim()
  for (const [pattern, make] of forms) {
    const found = pattern.exec(trimmed)
    if (found !== null) return make(found.slice(1))
  }
  return undefined
}

/** `group/project issue show 1`: where, and what. */
export function splitPlace(text: string): { readonly place: string; readonly rest: string } {
  const [, place = '', rest = ''] = /^\s*(\S*)\s*([^]*)$/.exec(text) ?? []
  return { place, rest }
}
