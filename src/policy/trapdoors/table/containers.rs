//! Containers, clusters and infrastructure.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Reads, Runs, Sets, Writes};
use crate::policy::trapdoors::looks::hosts;

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "docker podman nerdctl finch",
        source: "docker(1) 27, podman(1) 5; GTFOBins",
        every: &[
            (
                Sets,
                "-H --host --config --context --connection --url --identity",
            ),
            (Writes, "--iidfile --cidfile --metadata-file --output"),
        ],
        front: true,
        valued: "-H --host --config -c --context -l --log-level --connection --url",
        flags: "-D --debug --tls --tlsverify --version -v",
        harmless: "--h --help --c --u --i --o --out --com --con --conf --m --ci --cont",
        closed: true,
        subs: &[
            Row {
                names: "run exec create",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "container",
                subs: &[
                    Row {
                        names: "run exec create cp export commit",
                        itself: Some(Runs),
                        ..ROW
                    },
                    Row {
                        names: "rm prune",
                        itself: Some(Writes),
                        ..ROW
                    },
                ],
                ..ROW
            },
            Row {
                names: "compose",
                front: true,
                options: &[(Reads, "-f --file --env-file --project-directory")],
                valued: "-f --file -p --project-name --profile --env-file --project-directory",
                subs: &[Row {
                    names: "run exec cp create",
                    itself: Some(Runs),
                    ..ROW
                }],
                ..ROW
            },
            Row {
                names: "build buildx builder image",
                options: &[
                    (Writes, "-o --output"),
                    (Reads, "--secret --ssh --allow --build-context"),
                ],
                subs: &[
                    Row {
                        names: "bake",
                        itself: Some(Runs),
                        ..ROW
                    },
                    Row {
                        names: "rm prune save load import push",
                        itself: Some(Writes),
                        ..ROW
                    },
                ],
                ..ROW
            },
            Row {
                names: "cp save export import load push commit rm rmi kill",
                itself: Some(Writes),
                ..ROW
            },
            Row {
                names: "login logout unshare generate play kube mount",
                itself: Some(Sets),
                ..ROW
            },
            Row {
                names: "plugin context system swarm service stack secret config volume machine",
                look: Some(hosts::shows),
                looks: "plugin context volume",
                ..ROW
            },
        ],
        known: "ps images logs inspect stats top port events diff history info version search pull tag rename wait pause \
            unpause start stop restart update network manifest attach trust help pod healthcheck",
        ..ROW
    },
    Row {
        names: "docker-compose podman-compose",
        source: "docker compose(1) 2",
        front: true,
        options: &[(Reads, "-f --file --env-file --project-directory")],
        valued: "-f --file -p --project-name --profile",
        subs: &[Row {
            names: "run exec cp create",
            itself: Some(Runs),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "kubectl oc k3s kubecolor microk8s",
        source: "kubectl(1) 1.30; GTFOBins",
        every: &[
            (
                Sets,
                "--kubeconfig --server -s --token --as --username --cache-dir",
            ),
            (Writes, "--profile-output"),
        ],
        valued: "-n --namespace --context --cluster --user -s --server --kubeconfig --as -l -o -f",
        harmless: "--selector --show-labels --sort-by --as-group --timestamps --tail --s --t --to --p --u --user --a --c --k",
        flags: "-A --all-namespaces -w --watch -v",
        closed: true,
        subs: &[
            Row {
                names: "exec run debug attach cp proxy plugin edit",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "apply create delete replace patch scale drain cordon uncordon taint label annotate set expose rollout autoscale certificate",
                look: Some(hosts::kubectl_write),
                looks: "apply delete",
                ..ROW
            },
            Row {
                names: "config",
                subs: &[Row {
                    names: "view current-context get-contexts get-clusters get-users",
                    ..ROW
                }],
                closed: true,
                ..ROW
            },
            Row {
                names: "kustomize diff",
                options: &[
                    (
                        Runs,
                        "--enable-exec --enable-alpha-plugins --enable-helm --helm-command",
                    ),
                    (Writes, "-o --output"),
                ],
                itself: None,
                ..ROW
            },
            Row {
                names: "cluster-info",
                subs: &[Row {
                    names: "dump",
                    itself: Some(Writes),
                    ..ROW
                }],
                ..ROW
            },
        ],
        known: "port-forward get describe logs top explain api-resources api-versions version wait events auth completion options help project projects status whoami",
        ..ROW
    },
    Row {
        names: "helm helmfile",
        source: "helm(1) 3: --post-renderer, plugins",
        every: &[
            (Runs, "--post-renderer --post-renderer-args"),
            (
                Sets,
                "--kubeconfig --registry-config --repository-config --kube-apiserver",
            ),
            (Writes, "--output-dir"),
        ],
        harmless: "--output --o --p --k --r",
        subs: &[
            Row {
                names: "install upgrade uninstall delete rollback",
                itself: Some(Writes),
                ..ROW
            },
            Row {
                names: "plugin exec",
                itself: Some(Runs),
                ..ROW
            },
        ],
        closed: true,
        known: "list ls get status history show template lint search repo version env dependency dep pull verify create package test help completion registry diff",
        ..ROW
    },
    Row {
        names: "terraform tofu terragrunt",
        source: "terraform help 1.9; providers and external data run programs",
        single: true,
        every: &[(
            Sets,
            "-chdir -plugin-dir -backend-config -state -state-out -out -backup -var-file -from-module -config",
        )],
        subs: &[Row {
            names: "console apply destroy import taint untaint state workspace force-unlock login init plan refresh exec run run-all",
            single: true,
            look: Some(hosts::terraform),
            looks: "apply",
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "pulumi cdk cdktf serverless sam packer",
        source: "their help: programs and plug-ins are run",
        every: &[
            (Runs, "-a --app --exec-agent --plugin -p"),
            (Writes, "-o --output"),
        ],
        subs: &[Row {
            names: "up destroy deploy import build console invoke refresh",
            itself: Some(Runs),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "vagrant multipass lxc lxd incus virsh qemu-system-x86_64 limactl",
        source: "lxc help, virsh(1); GTFOBins",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "skopeo buildah kaniko crane ctr crictl",
        source: "buildah(1): run, from; ctr help",
        subs: &[Row {
            names: "run exec copy bud build delete unshare task tasks",
            itself: Some(Runs),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "vault consul nomad etcdctl",
        source: "vault help: login helpers; consul exec",
        subs: &[Row {
            names: "exec watch lock agent write delete put del alloc job operator",
            itself: Some(Runs),
            ..ROW
        }],
        options: &[(Sets, "-address --address -config -output-curl-string")],
        single: true,
        ..ROW
    },
];
