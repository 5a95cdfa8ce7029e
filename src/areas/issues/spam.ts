import { Visibility, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { RequestFacts } from '../../kernel/endpoint/index.ts'
import { unprocessable } from '../../kernel/errors/index.ts'
import { needsCaptchaAnswer, type SpamGuard } from '../spam/index.ts'
import type { IssueRow } from './entities.ts'

interface Texts {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly confidential?: boolean | undefined
}

interface Writing {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly request: RequestFacts
}

export const takenForSpam = { ...needsCaptchaAnswer, 422: 'It was taken for spam' }

/** Throws the refusal of what everybody would read from now on, where it is taken for spam. */
export async function checkSpam(
  spam: SpamGuard,
  { actor, project, request }: Writing,
  given: Texts,
  before?: Pick<IssueRow, 'title' | 'description' | 'confidential' | 'created_at' | 'updated_at'>,
): Promise<void> {
  const title = given.title ?? before?.title ?? null
  const description = (given.description === undefined ? before?.description : given.description) ?? null
  const hidden = given.confidential ?? before?.confidential ?? false
  if (project.visibility !== Visibility.public || hidden) return
  const isNew = before === undefined || before.confidential
  if (!isNew && title === before.title && description === before.description) return
  const refusal = (reason: string) => unprocessable({ base: [reason] })
  await spam.check({
    kind: 'issue',
    title,
    text: description ?? '',
    actor,
    place: project,
    before,
    request,
    refusal,
  })
}
