/** What both runners are given: everything of the protocol that does not need containers. */
export const files: Readonly<Record<string, string>> = {
  '.gitlab-ci.yml': `
stages: [build, test, late]

default:
  before_script:
    - echo "before of $CI_JOB_NAME"

variables:
  PLAIN: from the file

build:
  stage: build
  script:
    - mkdir -p out/deep vendor
    - echo "made at $CI_COMMIT_SHORT_SHA" > out/deep/made.txt
    - echo left out > out/secret.tmp
    - echo kept > vendor/kept.txt
    - echo "VERSION=1.2.3" > build.env
    - printf '<testsuite name="s"><testcase name="one" time="0.1"/></testsuite>' > junit.xml
  after_script:
    - echo "after with $CI_JOB_STATUS"
  artifacts:
    name: outcome
    paths: [out/]
    exclude: ['out/*.tmp']
    expire_in: 1 week
    reports:
      dotenv: build.env
      junit: junit.xml
  cache:
    key: {files: [lock.txt]}
    paths: [vendor/]

test:
  stage: test
  script:
    - cat out/deep/made.txt
    - test ! -e out/secret.tmp
    - cat vendor/kept.txt
    - echo "version $VERSION and $PLAIN"
    - cat "$FILE"
    - printf 'hid%s%s' 'den-' 'value-1' && echo
    - echo "$HIDDEN"
    - echo "$MULTI"
  cache:
    key: {files: [lock.txt]}
    paths: [vendor/]
    policy: pull

no artifacts:
  stage: test
  dependencies: []
  script:
    - test ! -e out
    - git log -1 --format=%H
    - git rev-parse --abbrev-ref HEAD

without sources:
  stage: test
  dependencies: []
  variables: {GIT_STRATEGY: none}
  script:
    - echo "no sources needed"

exit code:
  stage: test
  script:
    - echo first
    - exit 42
    - echo never
  after_script:
    - echo "after with $CI_JOB_STATUS"
  allow_failure: {exit_codes: [42]}

before fails:
  stage: test
  before_script:
    - 'false'
  script:
    - echo never
  after_script:
    - echo "after with $CI_JOB_STATUS"
  allow_failure: true

kept on failure:
  stage: test
  allow_failure: true
  script:
    - echo evidence > evidence.txt
    - exit 7
  artifacts:
    when: on_failure
    paths: [evidence.txt]

failing after:
  stage: test
  script:
    - echo fine
  after_script:
    - exit 5

missing files:
  stage: test
  script:
    - echo nothing made
  artifacts:
    paths: [nowhere/]

late:
  stage: late
  when: on_failure
  script: [echo never]

end:
  stage: late
  script:
    - cat out/deep/made.txt
`,
  'lock.txt': 'locked\n',
  'README.md': 'A project.\n',
}

/** A job to be canceled: it says so when it has begun and when it is stopped. */
export const long: Readonly<Record<string, string>> = {
  '.gitlab-ci.yml': `
long:
  script:
    - echo "now it waits"
    - sleep 120
    - echo never
  after_script:
    - echo "after with $CI_JOB_STATUS"
`,
}

/** A job that goes on until somebody has typed into its terminal. */
export const waiting: Readonly<Record<string, string>> = {
  '.gitlab-ci.yml': `
waiting:
  script:
    - touch waiting
    - until test -e "$TYPED"; do sleep 0.1; done
    - rm "$TYPED"
`,
}
