import { expect, test } from 'vitest'
import { commitMessage, mergeTemplate, squashTemplate, type MessageFacts } from './messages.ts'

const ida = { name: 'Ida', email: 'ida@example.com' }
const otto = { name: 'Otto', email: 'otto@example.com' }
const facts = {
  row: {
    ...{ source_branch: 'fix', target_branch: 'main', title: 'Fix it', description: 'Why' },
    ...{ project_path: 'g/app', iid: 7, source_project_id: 3 },
  },
  webUrl: 'https://host/g/app/-/merge_requests/7',
  mergedBy: otto,
  reviewedBy: [otto, otto],
  approvedBy: [ida, otto],
  author: ida,
  commits: [
    { message: 'First\n', author: ida, isMerge: false },
    { message: "Merge branch 'main'\n\nlong\n", author: otto, isMerge: true },
    { message: 'Second\n\nIts body\nof two lines\n', author: otto, isMerge: false },
  ],
  issues: 'Closes #1 and #2',
} as unknown as MessageFacts
const nothing = {
  ...facts,
  ...{ row: { ...facts.row, description: null, source_project_id: null } },
  ...{ mergedBy: undefined, author: undefined, reviewedBy: [], approvedBy: [], commits: [], issues: '' },
} as unknown as MessageFacts

test.each([
  ['source_branch', 'fix', 'fix'],
  ['target_branch', 'main', 'main'],
  ['title', 'Fix it', 'Fix it'],
  ['issues', 'Closes #1 and #2', ''],
  ['description', 'Why', ''],
  ['reference', 'g/app!7', 'g/app!7'],
  ['local_reference', '!7', '!7'],
  ['source_project_id', '3', ''],
  ['first_commit', 'First', ''],
  ['first_multiline_commit', 'Second\n\nIts body\nof two lines', 'Fix it'],
  ['first_multiline_commit_description', 'Its body\nof two lines', ''],
  ['url', 'https://host/g/app/-/merge_requests/7', 'https://host/g/app/-/merge_requests/7'],
  ['reviewed_by', 'Reviewed-by: Otto <otto@example.com>', ''],
  ['approved_by', 'Approved-by: Ida <ida@example.com>\nApproved-by: Otto <otto@example.com>', ''],
  ['merged_by', 'Otto <otto@example.com>', ''],
  ['merge_request_author', 'Ida <ida@example.com>', ''],
  ['co_authored_by', 'Co-authored-by: Otto <otto@example.com>', ''],
  ['all_commits', '* First\n\n* Second\n\nIts body\nof two lines', ''],
  ['unknown', '%{unknown}', '%{unknown}'],
  ['toString', '%{toString}', '%{toString}'],
])('%%{%s}', (name, filled, empty) => {
  expect(commitMessage(`%{${name}}`, facts)).toBe(filled)
  expect(commitMessage(`%{${name}}`, nothing)).toBe(empty)
})

test('what is empty leaves no gap', () => {
  const usual = "Merge branch 'fix' into 'main'\n\nFix it\n\n"
  expect(commitMessage(mergeTemplate, facts)).toBe(`${usual}Closes #1 and #2\n\nSee merge request g/app!7`)
  expect(commitMessage(mergeTemplate, nothing)).toBe(`${usual}See merge request g/app!7`)
  expect(commitMessage(squashTemplate, facts)).toBe('Fix it')
  expect(commitMessage('a\r\n%{issues} x\r\nb', nothing)).toBe('a\n x\nb')
  expect(commitMessage('%{title}: %{description}%{issues}', nothing)).toBe('Fix it:')
})

test('a message that is too long is told in its first line', () => {
  const long = { message: `Long\n\n${'x'.repeat(200_000)}`, author: ida, isMerge: false }
  expect(commitMessage('%{all_commits}', { ...facts, commits: [long] })).toBe('* Long')
})
