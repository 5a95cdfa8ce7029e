// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { during } from './effects.ts'

let world: World
let second: string
let user: Person
beforeAll(async () => {
  second = await mkdtemp(path.join(tmpdir(), 'guildhall-second-storage-'))
  world = await startWorld({
    ROLES: 'web,tasks',
    REPOSITORY_STORAGES: `default=${second}/one,second=${second}/two`,
  })
  user = await world.user()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await rm(second, { recursive: true, force: true })
})

describe('repositories', () => {
  test('repository_storages_weighted chooses where a new one lies', async () => {
    const storageOf = async () => {
      const { db } = world.service.services
      const { id } = await world.project()
      const found = await db.reader.selectFrom('projects').select('storage').where('id', '=', id).execute()
      return found[0]!.storage
    }
    await during(world, { repository_storages_weighted: { second: 5 } }, async () => {
      const { body } = await world.root.get('/application/settings')
      expect(body.repository_storages_weighted).toEqual({ default: 0, second: 5 })
      expect(await storageOf()).toBe('second')
    })
    expect(await storageOf()).toBe('default')
  })

  test('custom_http_clone_url_root is where projects are cloned from', async () => {
    const project = await world.project()
    const address = async () =>
      (await world.root.get(`/projects/${project.id}`)).body.http_url_to_repo as string
    await during(world, { custom_http_clone_url_root: 'https://git.example/' }, async () => {
      expect(await address()).toBe(`https://git.example/${project.path_with_namespace}.git`)
    })
    expect(await address()).toBe(`${world.url}/${project.path_with_namespace}.git`)
  })

  test('default_branch_name is the first branch of a new project', async () => {
    const branch = async () => (await world.project())['default_branch'] as string
    await during(world, { default_branch_name: 'trunk' }, async () => expect(await branch()).toBe('trunk'))
    expect(await branch()).toBe('main')
  })

  test('default_branch_protection_defaults protect the default branch with the first push', async () => {
    const rules = async () => {
      const project = await world.project()
      await pushFiles(world, project, { 'README.md': 'x' }, ['main'])
      return (await world.root.get(`/projects/${project.id}/protected_branches`)).body as Json[]
    }
    const values = {
      default_branch_protection_defaults: {
        allowed_to_push: [{ access_level: 30 }],
        allowed_to_merge: [{ access_level: 40 }],
        allow_force_push: true,
      },
    }
    await during(world, values, async () => {
      expect(await rules()).toMatchObject([
        { name: 'main', allow_force_push: true, push_access_levels: [{ access_level: 30 }] },
      ])
    })
    // Nothing is protected where developers may do everything.
    await during(world, { default_branch_protection: 0 }, async () => expect(await rules()).toEqual([]))
    expect(await rules()).toMatchObject([{ name: 'main', push_access_levels: [{ access_level: 40 }] }])
  })

  test.each([
    [{ allowed_to_push: [40, 30], allowed_to_merge: [60, 40] }, [30, 40]],
    [{ allowed_to_push: [30, 0], allowed_to_merge: [60] }, [0, 60]],
    [{ allowed_to_push: [40] }, [40, 60]],
    [{}, [60, 60]],
    [{ allowed_to_push: [30, 30], allowed_to_merge: [30], allow_force_push: true }, undefined],
    [{ allowed_to_push: [30], allowed_to_merge: [30] }, [30, 30]],
  ] as [Json & Record<'allowed_to_push' | 'allowed_to_merge', number[] | undefined>, number[] | undefined][])(
    'of default_branch_protection_defaults %j the levels of the rule are %j',
    async ({ allowed_to_push: push, allowed_to_merge: merge, ...more }, levels) => {
      const list = (given: number[] | undefined) => given?.map((access_level) => ({ access_level }))
      const defaults = { allowed_to_push: list(push), allowed_to_merge: list(merge), ...more }
      await during(world, { default_branch_protection_defaults: defaults }, async () => {
        const project = await world.project({ initialize_with_readme: true })
        const { body } = await world.root.get(`/projects/${project.id}/protected_branches`)
        expect(body).toMatchObject(
          levels === undefined
            ? []
            : [
                {
                  push_access_levels: [{ access_level: levels[0] }],
                  merge_access_levels: [{ access_level: levels[1] }],
                },
              ],
        )
      })
    },
  )

  test('default_ci_config_path is copied to new projects', async () => {
    const configPath = async () => (await world.project())['ci_config_path'] as unknown
    await during(world, { default_ci_config_path: 'ci/main.yml' }, async () => {
      expect(await configPath()).toBe('ci/main.yml')
    })
    expect(await configPath()).not.toBe('ci/main.yml')
  })

  test.each(['auto_devops_enabled', 'shared_runners_enabled'])(
    '%s is what new projects begin with where nothing else is said',
    async (setting) => {
      const begun = async (fields: Json = {}) => (await world.project(fields))[setting] as boolean
      await during(world, { [setting]: false }, async () => {
        expect([await begun(), await begun({ [setting]: true })]).toEqual([false, true])
      })
      expect([await begun(), await begun({ [setting]: false })]).toEqual([true, false])
    },
  )

  test('auto_devops_enabled of a group is what its projects begin with', async () => {
    const group = await world.group({ auto_devops_enabled: false })
    expect((await world.project({ namespace_id: group.id }))['auto_devops_enabled']).toBe(false)
  })
})

describe('visibility', () => {
  test('default_project_visibility is that of a project whose creator names none', async () => {
    const visibility = async () => {
      const { id } = await world.group({ visibility: 'public' })
      return (await world.project({ namespace_id: id })).visibility
    }
    await during(world, { default_project_visibility: 'internal' }, async () => {
      expect(await visibility()).toBe('internal')
    })
    expect(await visibility()).toBe('private')
  })

  test('default_group_visibility is that of a group whose creator names none', async () => {
    await during(world, { default_group_visibility: 'public' }, async () => {
      expect((await world.group()).visibility).toBe('public')
    })
    expect((await world.group()).visibility).toBe('private')
  })

  test('default_snippet_visibility is that of a snippet whose creator names none', async () => {
    const make = async () =>
      expectStatus(
        await user.post('/snippets', { title: 'x', files: [{ file_path: 'a.txt', content: 'a' }] }),
        201,
      )['visibility'] as string
    await during(world, { default_snippet_visibility: 'internal' }, async () => {
      expect(await make()).toBe('internal')
    })
    expect(await make()).toBe('private')
  })

  test('restricted_visibility_levels are for administrators only', async () => {
    const make = async (who: Person) => {
      const name = world.unique('level')
      const group = await who.post('/groups', { name, path: name, visibility: 'public' })
      const project = await who.post('/projects', { name, visibility: 'public' })
      return [group, project]
    }
    await during(world, { restricted_visibility_levels: ['public'] }, async () => {
      const [group, project] = await make(user)
      expect([group!.status, project!.status, project!.body]).toEqual([
        400,
        400,
        { message: { visibility_level: ['public has been restricted by your Guildhall administrator'] } },
      ])
      expect((await make(world.root)).map(({ status }) => status)).toEqual([201, 201])
    })
    expect((await make(user)).map(({ status }) => status)).toEqual([201, 201])
  })
})

describe('groups', () => {
  test('default_project_creation is who may create projects in a new group', async () => {
    const level = async () => {
      const group = await world.group()
      const developer = await world.member({ group }, 'developer')
      const name = world.unique('made')
      const made = await developer.post('/projects', { name, namespace_id: group.id })
      return [group['project_creation_level'], made.status]
    }
    await during(world, { default_project_creation: 1 }, async () => {
      expect(await level()).toEqual(['maintainer', 400])
    })
    expect(await level()).toEqual(['developer', 201])
  })

  test('group_owners_can_manage_default_branch_protection off: only administrators change it', async () => {
    const group: Made = await world.group()
    const owner = await world.member({ group }, 'owner')
    const change = async (who: Person) =>
      expectStatus(await who.put(`/groups/${group.id}`, { default_branch_protection: 1 }), 200)[
        'default_branch_protection'
      ] as number
    await during(world, { group_owners_can_manage_default_branch_protection: false }, async () => {
      expect(await change(owner)).toBe(2)
      expect(await change(world.root)).toBe(1)
    })
    await world.root.put(`/groups/${group.id}`, { default_branch_protection: 2 })
    expect(await change(owner)).toBe(1)
  })
})

describe('sizes', () => {
  test('snippet_size_limit is that of one file of a snippet', async () => {
    const make = () =>
      user.post('/snippets', { title: 'x', files: [{ file_path: 'a.txt', content: 'x'.repeat(60) }] })
    await during(world, { snippet_size_limit: 50 }, async () => {
      const refused = await make()
      expect(refused.status).toBe(400)
      expect(refused.text).toContain('The maximum size is 50 Bytes')
    })
    expectStatus(await make(), 201)
  })

  test('wiki_page_max_content_bytes is that of one page of a wiki', async () => {
    const project = await world.project()
    const make = () =>
      world.root.post(`/projects/${project.id}/wikis`, {
        title: world.unique('page'),
        content: 'x'.repeat(1100),
      })
    await during(world, { wiki_page_max_content_bytes: 1024 }, async () =>
      expect((await make()).status).toBe(400),
    )
    expectStatus(await make(), 201)
  })
})
