import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { topicEndpoints } from './routes.ts'

export interface TopicServices {
  readonly db: Database
  /** Without a slash at the end. */
  readonly externalUrl: () => string
}

/** Topics: what projects are about. They come into being with the projects that name them. */
export function topics(services: TopicServices): { endpoints: Endpoint[] } {
  return { endpoints: topicEndpoints(services) }
}
