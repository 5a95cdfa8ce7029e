/**
 * All that is served: what editor extensions ask for, and what dashboards and scripts ask for besides. Names of types and
 * fields are those that clients have in their queries.
 */
export const schema = /* GraphQL */ `
  type Query {
    "Who asks; null without credentials"
    currentUser: UserCore
    user(id: UserID, username: String): UserCore
    group(fullPath: ID!): Group
    project(fullPath: ID!): Project
    "The newest first"
    projects(
      search: String
      membership: Boolean
      "Whether \`search\` looks into the names of groups, too"
      searchNamespaces: Boolean
      first: Int
      after: String
    ): ProjectConnection
    mergeRequest(id: MergeRequestID!): MergeRequest
    issue(id: IssueID!): Issue
    snippets(ids: [SnippetID!]!, first: Int, after: String): SnippetConnection
    metadata: Metadata
  }

  type Mutation {
    createNote(input: CreateNoteInput!): CreateNotePayload
    createDiffNote(input: CreateDiffNoteInput!): CreateDiffNotePayload
    updateNote(input: UpdateNoteInput!): UpdateNotePayload
    destroyNote(input: DestroyNoteInput!): DestroyNotePayload
    discussionToggleResolve(input: DiscussionToggleResolveInput!): DiscussionToggleResolvePayload
  }

  "\`gid://gitlab/<type>/<number>\`"
  scalar CiPipelineID
  scalar DiscussionID
  scalar IssueID
  scalar JobID
  scalar MergeRequestID
  "Of an issue or a merge request"
  scalar NoteableID
  scalar NoteID
  scalar SnippetID
  scalar UserID
  "ISO 8601"
  scalar Time
  "A day, ISO 8601"
  scalar Date

  type PageInfo {
    hasNextPage: Boolean!
    hasPreviousPage: Boolean!
    startCursor: String
    endCursor: String
  }

  type Metadata {
    version: String!
    revision: String!
    enterprise: Boolean!
  }

  interface User {
    id: UserID!
    username: String!
    name: String!
    state: String!
    avatarUrl: String
    webUrl: String!
    webPath: String!
  }

  type UserCore implements User {
    id: UserID!
    username: String!
    name: String!
    state: String!
    avatarUrl: String
    webUrl: String!
    webPath: String!
  }

  type UserCoreConnection {
    nodes: [UserCore]
    edges: [UserCoreEdge]
    pageInfo: PageInfo!
  }
  type UserCoreEdge {
    cursor: String!
    node: UserCore
  }

  type Group {
    id: ID!
    name: String!
    path: String!
    fullPath: ID!
    fullName: String
    description: String
    visibility: String
    avatarUrl: String
    webUrl: String!
    projects(search: String, includeSubgroups: Boolean = false, first: Int, after: String): ProjectConnection
  }

  type Namespace {
    id: ID!
    name: String!
    path: String!
    fullPath: ID!
  }

  type Repository {
    empty: Boolean!
    exists: Boolean!
    rootRef: String
  }

  type Project {
    id: ID!
    name: String!
    nameWithNamespace: String!
    path: String!
    fullPath: ID!
    description: String
    visibility: String!
    archived: Boolean
    webUrl: String!
    avatarUrl: String
    httpUrlToRepo: String
    sshUrlToRepo: String
    createdAt: Time
    lastActivityAt: Time
    starCount: Int!
    forksCount: Int!
    topics: [String!]
    issuesEnabled: Boolean
    mergeRequestsEnabled: Boolean
    wikiEnabled: Boolean
    snippetsEnabled: Boolean
    jobsEnabled: Boolean
    "Null of projects of users"
    group: Group
    namespace: Namespace
    repository: Repository
    issue(iid: String!): Issue
    issues(
      iids: [String!]
      state: IssuableState
      search: String
      labelName: [String!]
      authorUsername: String
      assigneeUsername: String
      first: Int
      after: String
    ): IssueConnection
    mergeRequest(iid: String!): MergeRequest
    mergeRequests(
      iids: [String!]
      state: MergeRequestState
      "One at most"
      sourceBranches: [String!]
      "One at most"
      targetBranches: [String!]
      labels: [String!]
      authorUsername: String
      assigneeUsername: String
      reviewerUsername: String
      first: Int
      after: String
    ): MergeRequestConnection
    pipeline(id: CiPipelineID!): Pipeline
    pipelines(
      ref: String
      sha: String
      status: PipelineStatusEnum
      first: Int
      after: String
    ): PipelineConnection
    job(id: JobID!): CiJob
    jobs(statuses: [CiJobStatus!], first: Int, after: String): CiJobConnection
    snippets(first: Int, after: String): SnippetConnection
  }

  type ProjectConnection {
    nodes: [Project]
    edges: [ProjectEdge]
    pageInfo: PageInfo!
  }
  type ProjectEdge {
    cursor: String!
    node: Project
  }

  enum IssuableState {
    opened
    closed
    all
  }

  enum MergeRequestState {
    opened
    closed
    locked
    merged
    all
  }

  type Label {
    id: ID!
    title: String!
    description: String
    color: String!
    textColor: String!
  }

  type LabelConnection {
    nodes: [Label]
    edges: [LabelEdge]
    pageInfo: PageInfo!
  }
  type LabelEdge {
    cursor: String!
    node: Label
  }

  type Issue {
    id: ID!
    iid: ID!
    title: String!
    description: String
    descriptionHtml: String
    state: String!
    confidential: Boolean!
    discussionLocked: Boolean!
    reference: String!
    webUrl: String!
    createdAt: Time!
    updatedAt: Time!
    closedAt: Time
    dueDate: Date
    userNotesCount: Int!
    author: UserCore
    assignees(first: Int, after: String): UserCoreConnection
    labels(first: Int, after: String): LabelConnection
    discussions(first: Int, after: String): DiscussionConnection
    userPermissions: IssuePermissions!
  }

  type IssuePermissions {
    createNote: Boolean!
    "Its texts, and whether it is open"
    updateIssue: Boolean!
  }

  type IssueConnection {
    nodes: [Issue]
    edges: [IssueEdge]
    pageInfo: PageInfo!
  }
  type IssueEdge {
    cursor: String!
    node: Issue
  }

  type DiffRefs {
    baseSha: String
    headSha: String!
    startSha: String!
  }

  type MergeRequest {
    id: ID!
    iid: String!
    title: String!
    description: String
    descriptionHtml: String
    state: MergeRequestState!
    draft: Boolean!
    conflicts: Boolean!
    discussionLocked: Boolean!
    reference: String!
    webUrl: String
    createdAt: Time!
    updatedAt: Time!
    mergedAt: Time
    sourceBranch: String!
    targetBranch: String!
    diffHeadSha: String
    diffRefs: DiffRefs
    userNotesCount: Int
    approved: Boolean
    author: UserCore
    mergeUser: UserCore
    approvedBy(first: Int, after: String): UserCoreConnection
    assignees(first: Int, after: String): UserCoreConnection
    reviewers(first: Int, after: String): UserCoreConnection
    labels(first: Int, after: String): LabelConnection
    headPipeline: Pipeline
    pipelines(first: Int, after: String): PipelineConnection
    discussions(first: Int, after: String): DiscussionConnection
    userPermissions: MergeRequestPermissions!
  }

  type MergeRequestPermissions {
    createNote: Boolean!
    "Its texts, and whether it is open"
    updateMergeRequest: Boolean!
  }

  type MergeRequestConnection {
    nodes: [MergeRequest]
    edges: [MergeRequestEdge]
    pageInfo: PageInfo!
  }
  type MergeRequestEdge {
    cursor: String!
    node: MergeRequest
  }

  type Discussion {
    id: DiscussionID!
    "What an answer names as its \`discussionId\`"
    replyId: DiscussionID!
    createdAt: Time!
    resolvable: Boolean!
    resolved: Boolean!
    resolvedAt: Time
    resolvedBy: UserCore
    notes(first: Int, after: String): NoteConnection!
  }

  type DiscussionConnection {
    nodes: [Discussion]
    edges: [DiscussionEdge]
    pageInfo: PageInfo!
  }
  type DiscussionEdge {
    cursor: String!
    node: Discussion
  }

  type Note {
    id: NoteID!
    body: String!
    bodyHtml: String
    "By the service itself"
    system: Boolean!
    internal: Boolean
    createdAt: Time!
    updatedAt: Time!
    url: String
    resolvable: Boolean!
    resolved: Boolean!
    resolvedAt: Time
    resolvedBy: UserCore
    author: UserCore
    "Null where it stands at no line"
    position: DiffPosition
    discussion: Discussion
    userPermissions: NotePermissions!
  }

  type NotePermissions {
    createNote: Boolean!
    "To change it, or delete it"
    adminNote: Boolean!
    resolveNote: Boolean!
  }

  type NoteConnection {
    nodes: [Note]
    edges: [NoteEdge]
    pageInfo: PageInfo!
  }
  type NoteEdge {
    cursor: String!
    node: Note
  }

  enum DiffPositionType {
    file
    image
    text
  }

  type DiffPosition {
    diffRefs: DiffRefs
    filePath: String!
    oldPath: String
    newPath: String
    oldLine: Int
    newLine: Int
    positionType: DiffPositionType!
    width: Int
    height: Int
    x: Float
    y: Float
  }

  type Snippet {
    id: SnippetID!
    title: String!
    description: String
    visibilityLevel: String!
    webUrl: String!
    rawUrl: String!
    httpUrlToRepo: String
    sshUrlToRepo: String
    createdAt: Time!
    updatedAt: Time!
    author: UserCore
    blobs(paths: [String!], first: Int, after: String): SnippetBlobConnection
  }

  type SnippetConnection {
    nodes: [Snippet]
    edges: [SnippetEdge]
    pageInfo: PageInfo!
  }
  type SnippetEdge {
    cursor: String!
    node: Snippet
  }

  type SnippetBlob {
    name: String
    path: String
    rawPath: String!
    "Null where it has more than a mebibyte"
    rawPlainData: String
  }

  type SnippetBlobConnection {
    nodes: [SnippetBlob]
    edges: [SnippetBlobEdge]
    pageInfo: PageInfo!
  }
  type SnippetBlobEdge {
    cursor: String!
    node: SnippetBlob
  }

  enum PipelineStatusEnum {
    CREATED
    WAITING_FOR_RESOURCE
    PREPARING
    WAITING_FOR_CALLBACK
    PENDING
    RUNNING
    FAILED
    SUCCESS
    CANCELED
    CANCELING
    SKIPPED
    MANUAL
    SCHEDULED
  }

  type Pipeline {
    id: CiPipelineID!
    iid: String!
    name: String
    ref: String
    sha: String
    source: String
    status: PipelineStatusEnum!
    "Of the page"
    path: String
    createdAt: Time!
    updatedAt: Time!
    startedAt: Time
    finishedAt: Time
    "Seconds"
    duration: Int
    user: UserCore
    jobs(statuses: [CiJobStatus!], first: Int, after: String): CiJobConnection
  }

  type PipelineConnection {
    nodes: [Pipeline]
    edges: [PipelineEdge]
    pageInfo: PageInfo!
  }
  type PipelineEdge {
    cursor: String!
    node: Pipeline
  }

  enum CiJobStatus {
    CREATED
    WAITING_FOR_RESOURCE
    PREPARING
    WAITING_FOR_CALLBACK
    PENDING
    RUNNING
    FAILED
    SUCCESS
    CANCELED
    CANCELING
    SKIPPED
    MANUAL
    SCHEDULED
  }

  type CiStage {
    name: String
  }

  type CiJob {
    id: JobID
    name: String
    status: CiJobStatus
    stage: CiStage
    refName: String
    allowFailure: Boolean!
    webPath: String
    createdAt: Time!
    startedAt: Time
    finishedAt: Time
    "Seconds"
    duration: Int
  }

  type CiJobConnection {
    nodes: [CiJob]
    edges: [CiJobEdge]
    pageInfo: PageInfo!
  }
  type CiJobEdge {
    cursor: String!
    node: CiJob
  }

  input CreateNoteInput {
    noteableId: NoteableID!
    body: String!
    internal: Boolean
    "Of the discussion that is answered"
    discussionId: DiscussionID
    "Needed by the command \`/merge\`"
    mergeRequestDiffHeadSha: String
    clientMutationId: String
  }

  type CreateNotePayload {
    "Null where the text was commands alone"
    note: Note
    errors: [String!]!
    clientMutationId: String
  }

  input DiffPathsInput {
    oldPath: String
    newPath: String
  }

  "A line of a diff, by its numbers on the two sides"
  input DiffPositionInput {
    baseSha: String
    headSha: String!
    startSha: String!
    paths: DiffPathsInput!
    positionType: DiffPositionType = text
    oldLine: Int
    newLine: Int
  }

  input CreateDiffNoteInput {
    noteableId: NoteableID!
    body: String!
    position: DiffPositionInput!
    clientMutationId: String
  }

  type CreateDiffNotePayload {
    note: Note
    errors: [String!]!
    clientMutationId: String
  }

  input UpdateNoteInput {
    id: NoteID!
    body: String
    clientMutationId: String
  }

  type UpdateNotePayload {
    note: Note
    errors: [String!]!
    clientMutationId: String
  }

  input DestroyNoteInput {
    id: NoteID!
    clientMutationId: String
  }

  type DestroyNotePayload {
    "Always null: it is gone"
    note: Note
    errors: [String!]!
    clientMutationId: String
  }

  input DiscussionToggleResolveInput {
    id: DiscussionID!
    resolve: Boolean!
    clientMutationId: String
  }

  type DiscussionToggleResolvePayload {
    discussion: Discussion
    errors: [String!]!
    clientMutationId: String
  }
`
