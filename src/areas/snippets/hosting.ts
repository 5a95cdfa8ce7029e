import {
  isVisible,
  mayWriteSnippet,
  readsSnippet,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Hosted } from '../repository/index.ts'
import type { SnippetRoom } from './index.ts'
import * as store from './store.ts'

/** A snippet as git clients meet it, with who may. */
export interface HostedSnippet extends Hosted {
  readonly id: number
  mayRead(actor: Actor): boolean
  mayWrite(actor: Actor): boolean
}

export interface SnippetHosting {
  /** A snippet of a project, or of nobody's project; undefined where there is none of this id. */
  find(project: ProjectSubject | undefined, id: number): Promise<HostedSnippet | undefined>
}

export function snippetHosting({ db, files, settings }: SnippetRoom): SnippetHosting {
  return {
    async find(project, id) {
      const row = await store.find(db.reader, id)
      if (row === undefined || row.project_id !== (project?.id ?? null)) return undefined
      const facts = { visibility: row.visibility, authorId: row.author?.id ?? null, project }
      return {
        id,
        refsVersion: row.refs_version,
        mayRead: (actor) =>
          (project === undefined || isVisible(actor, project)) && readsSnippet(actor, facts),
        mayWrite: (actor) => mayWriteSnippet(actor, facts),
        open: async () => files.of(row),
        receive: (_, input, output, options) =>
          files.receive(row, settings.values.snippet_size_limit, input, output, options),
      }
    },
  }
}
