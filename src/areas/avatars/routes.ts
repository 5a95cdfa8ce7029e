import { endpoint, group, instance, project, userOf } from '../../access/index.ts'
import {
  Answer,
  Either,
  Fields,
  File,
  Int,
  Json,
  Nullable,
  OneOf,
  Text,
  type Endpoint,
  type RequestFacts,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import type { AvatarServices } from './index.ts'
import { takeAvatar, type Picture } from './picture.ts'
import * as store from './store.ts'
import type { Owner, StoredPicture } from './store.ts'
import { avatarUrl, serviceAvatar } from './urls.ts'

const Address = Fields({ avatar_url: Nullable(Text()) })
const bytes = Json({ description: 'The bytes of the picture' })
const refuses = { 404: 'There is no picture' }

export function avatarEndpoints({ db, settings, externalUrl }: AvatarServices): Endpoint[] {
  const shown = async (owner: Owner, id: number, request: RequestFacts): Promise<Answer> => {
    const picture = await store.findPicture(db.reader, owner, id)
    if (picture === undefined) throw notFound('Avatar')
    return pictureAnswer(picture, request.headers['if-none-match'])
  }
  return [
    endpoint({
      method: 'GET',
      path: '/avatar',
      summary: 'Tell where the picture of an address is',
      description: 'Of a user who shows the address to everybody, or at the service of pictures.',
      on: instance,
      may: 'read_users',
      anonymous: true,
      params: Fields({
        email: Text(),
        size: Int({
          default: 80,
          minimum: 1,
          maximum: 2048,
          description: 'Pixels, at the service of pictures',
        }),
      }),
      answers: Address,
      async handle({ params: { email, size } }) {
        const found = await store.avatarByEmail(db.reader, email)
        if (found?.own === true) return { avatar_url: avatarUrl(found.avatar, externalUrl()) }
        return { avatar_url: settings.values.avatar_service_enabled ? serviceAvatar(email, size) : null }
      },
    }),

    endpoint({
      method: 'PUT',
      path: '/user/avatar',
      summary: 'Change the own picture',
      description: 'A multipart form with the field `avatar`; an empty one takes the picture away.',
      on: instance,
      may: 'read_instance',
      takeFile: takeAvatar,
      params: Fields({ avatar: Either(File<Picture>(), OneOf([''], {})) }),
      answers: Address,
      refuses: { 400: 'It is no picture, or larger than 200 KiB' },
      async handle({ actor, params }) {
        const { id } = userOf(actor)
        return db.transaction(async (tx) => {
          await store.setAvatar(tx, 'user', id, params.avatar)
          return { avatar_url: avatarUrl(await store.avatarOfUser(tx, id), externalUrl()) }
        })
      },
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/avatar',
      summary: 'Get the picture of a project',
      on: project,
      may: 'read_project',
      anonymous: true,
      answers: bytes,
      refuses,
      handle: (call) => shown('project', call.project.id, call.request),
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/avatar',
      summary: 'Get the picture of a group',
      on: group,
      may: 'read_group',
      anonymous: true,
      answers: bytes,
      refuses,
      handle: (call) => shown('group', call.group.id, call.request),
    }),
  ]
}

/** Browsers take it for a picture and for nothing else. */
export function pictureAnswer(
  { content, content_type: type, digest }: StoredPicture,
  ifNoneMatch: string | undefined,
): Answer {
  const headers = {
    etag: `"${digest}"`,
    'cache-control': 'private, max-age=86400',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  }
  if (ifNoneMatch === headers.etag) return new Answer(304, headers)
  return new Answer(
    200,
    { ...headers, 'content-type': type, 'content-length': String(content.length) },
    content,
  )
}
