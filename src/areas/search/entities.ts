import { Either } from '../../kernel/endpoint/index.ts'
import { Issue } from '../issues/index.ts'
import { ListedMergeRequest } from '../merge-requests/index.ts'
import { Milestone } from '../milestones/index.ts'
import { Note } from '../notes/index.ts'
import { BasicProject } from '../projects/index.ts'
import { Commit } from '../repository/index.ts'
import { Snippet } from '../snippets/index.ts'
import { BasicUser } from '../users/index.ts'
import { FoundBlob } from '../wikis/index.ts'

/** What scopes answer with; the most telling first, as the first one that fits is taken. */
export const Found = Either(
  ListedMergeRequest,
  Issue,
  BasicProject,
  Snippet,
  Milestone,
  Commit,
  FoundBlob,
  Note,
  BasicUser,
)
