import type { FastifyInstance } from 'fastify'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import { mountPictures } from './pages.ts'
import { avatarEndpoints } from './routes.ts'

export { avatarParam, takeAvatar, takePicture, type Picture } from './picture.ts'
export { pictureAnswer } from './routes.ts'
export { setAvatar, type SentAvatar, type StoredPicture } from './store.ts'
export { avatarUrl, namespaceAvatar, placeAvatar, userAvatar } from './urls.ts'

export interface AvatarServices {
  readonly db: Database
  readonly settings: Settings
  readonly externalUrl: () => string
}

/** Pictures of users, projects and groups. */
export function avatars(services: AvatarServices): {
  endpoints: Endpoint[]
  mount: (server: FastifyInstance) => void
} {
  return {
    endpoints: avatarEndpoints(services),
    mount: (server) => mountPictures(server, services),
  }
}
