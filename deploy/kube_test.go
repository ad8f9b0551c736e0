package deploy

// The objects of the chart as the Kubernetes API takes them: a field that stands at another place, or is spelled
// otherwise, is an error.
type (
	meta struct {
		Name        string            `yaml:"name"`
		Labels      map[string]string `yaml:"labels"`
		Annotations map[string]string `yaml:"annotations"`
	}
	object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   meta   `yaml:"metadata"`
	}
	secret struct {
		object     `yaml:",inline"`
		Type       string            `yaml:"type"`
		StringData map[string]string `yaml:"stringData"`
	}
	configMap struct {
		object `yaml:",inline"`
		Data   map[string]string `yaml:"data"`
	}
	claim struct {
		object `yaml:",inline"`
		Spec   struct {
			AccessModes      []string `yaml:"accessModes"`
			StorageClassName string   `yaml:"storageClassName"`
			Resources        struct {
				Requests map[string]string `yaml:"requests"`
			} `yaml:"resources"`
		} `yaml:"spec"`
	}
	service struct {
		object `yaml:",inline"`
		Spec   struct {
			Type     string            `yaml:"type"`
			Selector map[string]string `yaml:"selector"`
			Ports    []struct {
				Name       string `yaml:"name"`
				Port       int    `yaml:"port"`
				TargetPort string `yaml:"targetPort"`
				Protocol   string `yaml:"protocol"`
			} `yaml:"ports"`
		} `yaml:"spec"`
	}
	selector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	}
	monitor struct {
		object `yaml:",inline"`
		Spec   struct {
			Selector  selector `yaml:"selector"`
			Endpoints []struct{ Port, Path, Interval string }
		} `yaml:"spec"`
	}
	deployment struct {
		object `yaml:",inline"`
		Spec   struct {
			Replicas int `yaml:"replicas"`
			Strategy struct{ Type string }
			Selector selector `yaml:"selector"`
			Template struct {
				Metadata meta `yaml:"metadata"`
				Spec     pod  `yaml:"spec"`
			} `yaml:"template"`
		} `yaml:"spec"`
	}
	pod struct {
		AutomountServiceAccountToken  *bool       `yaml:"automountServiceAccountToken"`
		TerminationGracePeriodSeconds int         `yaml:"terminationGracePeriodSeconds"`
		SecurityContext               podSecurity `yaml:"securityContext"`
		Containers                    []container `yaml:"containers"`
		Volumes                       []volume    `yaml:"volumes"`
	}
	podSecurity struct {
		RunAsNonRoot        bool                  `yaml:"runAsNonRoot"`
		RunAsUser           int                   `yaml:"runAsUser"`
		RunAsGroup          *int                  `yaml:"runAsGroup"`
		FSGroup             *int                  `yaml:"fsGroup"`
		FSGroupChangePolicy string                `yaml:"fsGroupChangePolicy"`
		SeccompProfile      struct{ Type string } `yaml:"seccompProfile"`
	}
	container struct {
		Name            string   `yaml:"name"`
		Image           string   `yaml:"image"`
		ImagePullPolicy string   `yaml:"imagePullPolicy"`
		SecurityContext security `yaml:"securityContext"`
		EnvFrom         []struct {
			SecretRef struct{ Name string } `yaml:"secretRef"`
		} `yaml:"envFrom"`
		Ports []struct {
			Name          string `yaml:"name"`
			ContainerPort int    `yaml:"containerPort"`
			Protocol      string `yaml:"protocol"`
		} `yaml:"ports"`
		LivenessProbe  probe `yaml:"livenessProbe"`
		ReadinessProbe probe `yaml:"readinessProbe"`
		VolumeMounts   []struct {
			Name      string `yaml:"name"`
			MountPath string `yaml:"mountPath"`
			SubPath   string `yaml:"subPath"`
			ReadOnly  bool   `yaml:"readOnly"`
		} `yaml:"volumeMounts"`
	}
	security struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	}
	probe struct {
		HTTPGet             struct{ Path, Port string } `yaml:"httpGet"`
		InitialDelaySeconds int                         `yaml:"initialDelaySeconds"`
		PeriodSeconds       int                         `yaml:"periodSeconds"`
		TimeoutSeconds      int                         `yaml:"timeoutSeconds"`
		FailureThreshold    int                         `yaml:"failureThreshold"`
	}
	volume struct {
		Name                  string                 `yaml:"name"`
		ConfigMap             *struct{ Name string } `yaml:"configMap"`
		EmptyDir              *struct{}              `yaml:"emptyDir"`
		PersistentVolumeClaim *struct {
			ClaimName string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
	}
)
