import { idOf } from '../actors.ts'
import type { Scenarios, Stage } from '../stage.ts'

async function made(stage: Stage): Promise<number> {
  return idOf(await stage.make('/topics', { name: stage.unique('topic'), title: 'A topic' }))
}

export const topicScenarios: Scenarios = {
  'GET /topics': { '': () => ({}) },
  'GET /topics/:id': {
    '': async (stage) => ({ path: { id: await stage.once('topic', () => made(stage)) } }),
  },
  'POST /topics': { '': (stage) => ({ body: { name: stage.unique('topic'), title: 'A topic' } }) },
  'PUT /topics/:id': {
    '': async (stage) => ({
      path: { id: await stage.once('topic', () => made(stage)) },
      body: { title: 'Another title' },
    }),
  },
  'DELETE /topics/:id': { '': async (stage) => ({ path: { id: await made(stage) } }) },
  'POST /topics/merge': {
    '': async (stage) => ({
      body: {
        source_topic_id: await made(stage),
        target_topic_id: await stage.once('topic', () => made(stage)),
      },
    }),
  },
}
