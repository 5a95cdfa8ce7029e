import { Refusal, write } from '../api.ts'
import { tags, type Child } from '../dom.ts'
import type { Label, Person, Project } from '../entities.ts'
import { ask } from '../graphql.ts'
import { me } from '../session.ts'
import { signInLink } from './account.ts'
import { action } from './action.ts'
import { avatar } from './avatar.ts'
import { form } from './form.ts'
import { prose } from './markdown.ts'
import { person } from './person.ts'
import { ago } from './time.ts'

const { article, details, div, p, section, span, summary } = tags

/** Notes of one thread that are shown; there are hardly ever more. */
const mostNotes = 100

/** What is said of an issue or a merge request, as the visitor may read it, and what he may say. */
export interface Conversation {
  readonly descriptionHtml: string
  readonly labels: { readonly nodes: readonly Label[] }
  readonly userPermissions: { readonly createNote: boolean; readonly change: boolean }
  readonly discussions: readonly Discussion[]
}

/** As it is answered, in pages. */
interface Found extends Omit<Conversation, 'discussions'> {
  /** Null for visitors: the API tells users only what is said. */
  readonly discussions: {
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
    readonly nodes: readonly Discussion[]
  } | null
}

interface Discussion {
  /** Ends with the id that it has in the API. */
  readonly id: string
  readonly resolved: boolean
  readonly notes: { readonly pageInfo: { readonly hasNextPage: boolean }; readonly nodes: readonly Note[] }
}

interface Note {
  readonly id: string
  readonly bodyHtml: string
  readonly system: boolean
  readonly internal: boolean | null
  readonly createdAt: string
  readonly author: Pick<Person, 'name' | 'username' | 'avatar_url'> | null
  readonly position: {
    readonly filePath: string
    readonly newLine: number | null
    readonly oldLine: number | null
  } | null
  readonly userPermissions: { readonly createNote: boolean; readonly resolveNote: boolean }
}

/** In the words of GraphQL: what is discussed, and how it tells whether one may change it. */
const kinds = { issue: 'updateIssue', mergeRequest: 'updateMergeRequest' } as const

const queryOf = (kind: keyof typeof kinds): string => `query($path: ID!, $iid: String!, $after: String) {
  project(fullPath: $path) {
    noteable: ${kind}(iid: $iid) {
      descriptionHtml
      labels { nodes { name: title color text_color: textColor } }
      userPermissions { createNote change: ${kinds[kind]} }
      discussions(after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id resolved
          notes(first: ${mostNotes}) {
            pageInfo { hasNextPage }
            nodes {
              id bodyHtml system internal createdAt
              author { name username avatar_url: avatarUrl }
              position { filePath newLine oldLine }
              userPermissions { createNote resolveNote }
            }
          }
        }
      }
    }
  }
}`

/** All of it. Refused where there is no such thing. */
export async function readConversation(
  kind: keyof typeof kinds,
  { path_with_namespace: path }: Project,
  iid: string,
): Promise<Conversation> {
  const discussions: Discussion[] = []
  for (let after: string | null = null; ;) {
    const answer: { readonly project: { readonly noteable: Found | null } | null } = await ask(
      queryOf(kind),
      {
        path,
        iid,
        after,
      },
    )
    const found = answer.project?.noteable
    if (found === null || found === undefined) throw new Refusal(404, 'Nothing is there.')
    discussions.push(...(found.discussions?.nodes ?? []))
    if (found.discussions?.pageInfo.hasNextPage !== true) return { ...found, discussions }
    after = found.discussions.pageInfo.endCursor
  }
}

/** What the conversation is about, below its title. */
export function description({ descriptionHtml }: Conversation): Child {
  return descriptionHtml !== '' && div({ className: 'note' }, prose(descriptionHtml))
}

/** `at`: the endpoint of what is discussed. `changed` is called after something was said. */
export function threads({ discussions }: Conversation, at: string, changed: () => Promise<void>): Child {
  return section(
    { className: 'threads', 'aria-label': 'Discussions' },
    discussions.map((discussion) => thread(discussion, at, changed)),
  )
}

function thread({ id, resolved, notes }: Discussion, at: string, changed: () => Promise<void>): Child {
  const [first] = notes.nodes
  if (first === undefined) return null
  if (first.system) return systemNote(first)
  const one = `${at}/discussions/${lastPart(id)}`
  const mayResolve = notes.nodes.some(({ userPermissions }) => userPermissions.resolveNote)
  return article(
    { className: 'thread' },
    notes.nodes.map(noteView),
    notes.pageInfo.hasNextPage && p({ className: 'soft' }, `The first ${mostNotes} notes of this thread.`),
    div(
      { className: 'actions' },
      resolved && span({ className: 'badge' }, 'resolved'),
      mayResolve &&
        action(resolved ? 'Open the thread again' : 'Resolve', async () => {
          await write('PUT', one, { resolved: !resolved })
          await changed()
        }),
      first.userPermissions.createNote &&
        details(
          { className: 'opens' },
          summary('Reply'),
          form(
            [{ name: 'body', words: 'Reply', kind: 'text', required: true }],
            'Send the reply',
            async (reply) => {
              await write('POST', `${one}/notes`, reply)
              await changed()
            },
          ),
        ),
    ),
  )
}

function noteView({ id, bodyHtml, internal, createdAt, author, position }: Note): HTMLElement {
  return div(
    { className: 'note', id: `note_${lastPart(id)}` },
    p(
      { className: 'byline' },
      byWhom(author),
      ' ',
      span({ className: 'soft' }, ago(createdAt)),
      internal === true && span({ className: 'badge' }, 'internal'),
      position !== null && span({ className: 'soft' }, ` on ${position.filePath}${lineOf(position)}`),
    ),
    prose(bodyHtml),
  )
}

/** What the service noted: that somebody did something. */
function systemNote({ id, bodyHtml, createdAt, author }: Note): HTMLElement {
  return div(
    { className: 'system-note', id: `note_${lastPart(id)}` },
    byWhom(author),
    prose(bodyHtml),
    span({ className: 'soft' }, ago(createdAt)),
  )
}

function byWhom(author: Note['author']): Child {
  return author === null ? span(avatar({ name: '?', avatar_url: null }), ' Somebody') : person(author)
}

function lineOf({ newLine, oldLine }: NonNullable<Note['position']>): string {
  const line = newLine ?? oldLine
  return line === null ? '' : `, line ${line}`
}

/** Where the visitor writes a comment, or is told why not. `at` and `changed` as of `threads`. */
export async function commentForm(
  { userPermissions }: Conversation,
  at: string,
  changed: () => Promise<void>,
): Promise<Child> {
  if (!userPermissions.createNote) {
    return (await me()) === undefined && p(signInLink('Sign in'), ' to read and write comments.')
  }
  return form(
    [
      {
        name: 'body',
        words: 'Comment',
        kind: 'text',
        required: true,
        hint: 'In Markdown; lines that begin with a slash are commands, as /assign and /label.',
      },
    ],
    'Comment',
    async (comment) => {
      await write('POST', `${at}/notes`, comment)
      await changed()
    },
  )
}

/** Of `gid://gitlab/Note/7`: 7. */
function lastPart(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1)
}
