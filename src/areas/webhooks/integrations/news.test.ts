import { describe, expect, test } from 'vitest'
import { tellOf, type Payload } from './news.ts'
import { isWanted } from './rules.ts'
import { html, marked, markdown } from './styles.ts'
import type { Properties, ToldOf } from './catalogue.ts'

const project = { path_with_namespace: 'a/b', web_url: 'http://h/a/b', default_branch: 'main' }
const user = { name: 'Ada' }
const zero = '0'.repeat(40)
const sha = 'a'.repeat(40)
const commits = Array.from({ length: 7 }, (_, place) => ({
  id: `${place}`.repeat(40),
  title: `Commit ${place}`,
  url: `http://h/${place}`,
}))
const pushed = { project, user_name: 'Ada', before: sha, after: sha, total_commits_count: 0 }
const pipeline = { id: 7, url: 'http://h/7', ref: 'main', status: 'failed', duration: 61.4 }

describe('what a chat is told of', () => {
  const cases: readonly (readonly [ToldOf, Omit<Payload, 'project'>, string])[] = [
    [
      'push',
      { ...pushed, ref: 'refs/heads/x/y' },
      'Ada pushed to branch <http://h/a/b/-/tree/x/y|x/y> of PLACE',
    ],
    ['push', { ...pushed, ref: 'refs/heads/x', after: zero }, 'Ada removed branch x of PLACE'],
    [
      'tag_push',
      { ...pushed, ref: 'refs/tags/v1', before: zero },
      'Ada pushed new tag <http://h/a/b/-/tree/v1|v1> of PLACE',
    ],
    ['tag_push', { ...pushed, ref: 'refs/tags/v1', after: zero }, 'Ada removed tag v1 of PLACE'],
    [
      'merge_requests',
      { user, object_attributes: { iid: 2, title: 'T', action: 'merge', url: 'http://h/2' } },
      'Ada merged merge request <http://h/2|!2 T> in PLACE',
    ],
    [
      'issues',
      { user: null, object_attributes: { iid: 2, title: 'T', action: 'reopen', url: 'http://h/2' } },
      'Somebody reopened issue <http://h/2|#2 T> in PLACE',
    ],
    [
      'note',
      { user, object_attributes: { note: 'N', url: 'http://h/n' }, merge_request: { iid: 3, title: 'M' } },
      'Ada <http://h/n|commented> on merge request !3 M in PLACE:\nN',
    ],
    [
      'note',
      { user, object_attributes: { note: 'x'.repeat(300), url: 'http://h/n' }, commit: { id: sha } },
      `Ada <http://h/n|commented> on commit aaaaaaaa in PLACE:\n${'x'.repeat(200)}…`,
    ],
    [
      'wiki_page',
      { user, object_attributes: { title: 'Home', action: 'update', url: 'http://h/w' } },
      'Ada updated wiki page <http://h/w|Home> in PLACE',
    ],
    [
      'pipeline',
      { user, object_attributes: pipeline },
      'Pipeline <http://h/7|#7> of branch main in PLACE, started by Ada, has failed after 61 s',
    ],
    [
      'pipeline',
      { user, object_attributes: { ...pipeline, tag: true, ref: 'v1', status: 'success', duration: null } },
      'Pipeline <http://h/7|#7> of tag v1 in PLACE, started by Ada, has passed',
    ],
    [
      'deployment',
      { user, environment: 'live', status: 'success', deployable_url: 'http://h/j' },
      'Deployment of PLACE to <http://h/j|live> by Ada: success',
    ],
  ]
  test.each(cases)('%s', (trigger, payload, text) => {
    expect(tellOf(trigger, { project, ...payload }, marked)).toBe(text.replace('PLACE', '<http://h/a/b|a/b>'))
  })

  test('of many commits the last', () => {
    const payload = { ...pushed, ref: 'refs/heads/main', commits, total_commits_count: 30 }
    const lines = tellOf('push', payload, markdown).split('\n')
    expect(lines).toHaveLength(7)
    expect(lines[1]).toBe('[22222222](http://h/2): Commit 2')
    expect(lines[6]).toBe('and 25 more')
  })
})

test('text cannot become anything else', () => {
  expect(markdown.plain('*a* [b](c) @here `d`')).toBe('\\*a\\* \\[b\\]\\(c\\) @\u200bhere \\`d\\`')
  expect(markdown.link('http://h/a(b) c', 't')).toBe('[t](http://h/a%28b%29%20c)')
  expect(marked.link('http://h/a|b>', 'x|y')).toBe('<http://h/a%7cb%3e|x¦y>')
  expect(html.link('http://h/?a=1&b="', html.plain('<b>'))).toBe(
    '<a href="http://h/?a=1&amp;b=%22">&lt;b&gt;</a>',
  )
})

describe('what a chat wants', () => {
  const side = { ...pipeline, ref: 'side', protected_ref: true }
  const passed = { ...pipeline, status: 'success' }
  const cases: readonly (readonly [boolean, ToldOf, Properties, Omit<Payload, 'project'>])[] = [
    [true, 'pipeline', {}, { object_attributes: pipeline }],
    [false, 'pipeline', {}, { object_attributes: passed }],
    [true, 'pipeline', { notify_only_broken_pipelines: false }, { object_attributes: passed }],
    [
      false,
      'pipeline',
      { notify_only_broken_pipelines: false },
      { object_attributes: { ...pipeline, status: 'running' } },
    ],
    [false, 'pipeline', {}, { object_attributes: side }],
    [true, 'pipeline', {}, { object_attributes: { ...side, tag: true } }],
    [true, 'pipeline', { branches_to_be_notified: 'protected' }, { object_attributes: side }],
    [true, 'pipeline', { branches_to_be_notified: 'default_and_protected' }, { object_attributes: side }],
    [
      false,
      'push',
      { branches_to_be_notified: 'protected' },
      { ref: 'refs/heads/main', ref_protected: false },
    ],
    [true, 'push', {}, { ref: 'refs/heads/main', ref_protected: false }],
    [true, 'tag_push', {}, { ref: 'refs/tags/v1' }],
    [false, 'deployment', {}, { status: 'created', ref: 'main' }],
    [true, 'deployment', {}, { status: 'failed', ref: 'main' }],
    [false, 'merge_requests', {}, { object_attributes: { action: 'update' } }],
    [false, 'note', { labels_to_be_notified: 'bug' }, { issue: { labels: [] } }],
    [true, 'note', { labels_to_be_notified: ' ~bug ,' }, { issue: { labels: [{ title: 'bug' }] } }],
    [false, 'note', { labels_to_be_notified: 'bug' }, {}],
  ]
  test.each(cases)('%s: %s with %o of %o', (wanted, trigger, properties, payload) => {
    expect(isWanted({ name: 'slack', properties }, trigger, { project, ...payload })).toBe(wanted)
  })
})
