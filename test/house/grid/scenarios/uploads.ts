import { expectStatus } from '../../../world/world.ts'
import { idOf } from '../actors.ts'
import { plain, type Prepare, type Scenarios, type Stage } from '../stage.ts'

function form(): FormData {
  const data = new FormData()
  data.append('file', new Blob(['text']), 'plan.txt')
  return data
}

function scenarios(at: string, place: (stage: Stage) => string): Scenarios {
  const made: Prepare = async (stage) => {
    const upload = expectStatus(await stage.world.root.post(`${place(stage)}/uploads`, form()), 201)
    const [, , secret = '', filename = ''] = (upload['url'] as string).split('/')
    return { path: { upload_id: idOf(upload), secret, filename } }
  }
  return {
    [`POST ${at}`]: { '': () => ({ body: form() }) },
    [`GET ${at}`]: { '': plain },
    [`GET ${at}/:upload_id`]: { '': made },
    [`GET ${at}/:secret/:filename`]: { '': made },
    [`DELETE ${at}/:upload_id`]: { '': made },
    [`DELETE ${at}/:secret/:filename`]: { '': made },
  }
}

export const uploadScenarios: Scenarios = {
  ...scenarios('/projects/:id/uploads', ({ projectPath }) => projectPath),
  ...scenarios('/groups/:id/uploads', ({ groupPath }) => groupPath),
}
